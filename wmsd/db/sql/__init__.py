"""SQL that many packages share: records and their lists, codes, epochs, rows for an undo."""
