"""How operations, routes, fields, errors, abilities, lists and findings are declared."""
