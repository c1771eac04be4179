"""SQL that many rooms share: records and their lists, codes, epochs, rows for an undo."""
