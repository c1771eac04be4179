"""What people print: documents and labels."""
