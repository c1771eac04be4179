"""Sales orders: what customers are sent, from the reservation to the delivery."""
