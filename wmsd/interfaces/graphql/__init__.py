"""GraphQL: each root field of a document runs as a call of the dispatcher."""
