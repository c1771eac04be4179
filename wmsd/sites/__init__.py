"""Sites: warehouses whose transport planner signs in with a bearer of its own, kept in `platform.db`."""
