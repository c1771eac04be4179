"""Purchase orders: the goods that suppliers must deliver, until they are received."""
