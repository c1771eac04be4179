"""What companies have to do today, in figures that are kept, so a thousand show at once."""
