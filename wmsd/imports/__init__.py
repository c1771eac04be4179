"""Import and export of CSV files, with previews, and with a way to undo an import."""
