"""Continuous replication by Litestream, which runs beside the server: its settings, how it fares, the way back."""
