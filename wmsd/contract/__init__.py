"""How things are declared: operations, routes, fields, errors, abilities, findings. Nothing is run here."""
