"""`scripts/replay-month`: a month of a real shop, order by order, against a server of its own."""
