"""One SQLite file: connections, units of work, write-ahead log, and states held for copying."""
