"""How a kind of document is declared, and everything that follows from the declaration."""
