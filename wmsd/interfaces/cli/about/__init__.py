"""Commands about the wmsd program: version, licences, shell completion, GraphQL schema."""
