"""The only room that knows SQLite: files, units of work, migrations, rendering of records."""
