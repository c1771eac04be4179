"""Purchase orders: what suppliers are to deliver, until it has been received."""
