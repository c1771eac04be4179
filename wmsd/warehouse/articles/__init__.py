"""Articles: the goods that a company stores, orders and receives."""
