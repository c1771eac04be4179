"""How the world reaches the one door. Interfaces do not import each other."""
