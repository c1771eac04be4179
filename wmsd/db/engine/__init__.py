"""One SQLite file: its connections, its units of work, its write-ahead log, the states held of it."""
