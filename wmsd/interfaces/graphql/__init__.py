"""GraphQL over the operations: the root fields of a document are calls of the dispatcher."""
