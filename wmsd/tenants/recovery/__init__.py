"""Tasks after a restore: create lost things again, and check access that works again."""
