"""The OpenAPI 3.1 descriptions, made from the declarations of operations."""
