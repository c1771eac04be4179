"""Continuous replication by Litestream, which runs beside the server."""
