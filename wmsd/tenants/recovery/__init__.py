"""Tasks after a restore: create again what was lost, and check access that works again."""
