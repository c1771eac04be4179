"""The only room that knows SQLite: files, connections, units of work, migrations, rendering of records."""
