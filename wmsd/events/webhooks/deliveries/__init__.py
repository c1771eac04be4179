"""The log of deliveries: its lists, its filters, and sending one again."""
