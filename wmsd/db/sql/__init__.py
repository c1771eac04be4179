"""SQL that many rooms share: records and lists of them, codes, epochs, staged rows, and rows for an undo."""
