"""GraphQL over the operations: a query or mutation is a set of calls, each through the door."""
