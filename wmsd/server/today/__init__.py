"""What companies have to do today, in figures that are kept, so that a thousand of them are seen at once."""
