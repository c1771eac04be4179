"""Access to one SQLite file: connections, units of work, write-ahead log, and snapshots."""
