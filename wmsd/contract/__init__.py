"""The declarations of operations, routes, fields, errors, abilities, lists and findings."""
