"""The program `scripts/replay-month`, which replays a month of a real shop, order by order, against a separate
server.
"""
