"""The only package that uses SQLite: files, units of work, migrations, rendering of records."""
