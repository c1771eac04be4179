"""SQL that many packages use: for records, lists, codes, epochs, and the undo of an import."""
