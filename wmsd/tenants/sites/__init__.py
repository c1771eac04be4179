"""Sites: warehouses whose transport planner signs in with its own bearer token, kept in `platform.db`."""
