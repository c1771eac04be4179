"""Sales orders: the goods that customers are sent, from the reservation to the delivery."""
