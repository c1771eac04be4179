"""Sites: warehouses whose transport planner signs in with a separate bearer token."""
