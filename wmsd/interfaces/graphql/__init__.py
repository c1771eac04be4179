"""GraphQL, which runs the root fields of a document as calls of the dispatcher."""
