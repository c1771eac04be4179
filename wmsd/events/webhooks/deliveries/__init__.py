"""The log of webhook deliveries: its lists and filters, and sending one again."""
