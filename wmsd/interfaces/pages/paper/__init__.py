"""Pages for printing: documents and labels."""
