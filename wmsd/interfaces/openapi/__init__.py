"""The OpenAPI 3.1 descriptions, made from the declarations of operations. Nothing here names a route."""
