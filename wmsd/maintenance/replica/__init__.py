"""Continuous replication by Litestream, which runs next to the server."""
