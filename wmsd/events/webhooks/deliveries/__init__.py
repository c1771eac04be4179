"""The log of webhook deliveries: its lists and filters, and sending a delivery again."""
