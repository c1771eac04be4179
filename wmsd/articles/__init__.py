"""Articles: what a company keeps, orders and receives."""
