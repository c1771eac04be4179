"""Sales orders: the goods that are sent to customers, from the reservation to the delivery."""
