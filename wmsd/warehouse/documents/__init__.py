"""How a kind of document is declared, and the code that all kinds share."""
