"""One SQLite file: its connections, units of work, write-ahead log and held states."""
