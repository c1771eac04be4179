"""The OpenAPI 3.1 descriptions, generated from the declarations of operations."""
