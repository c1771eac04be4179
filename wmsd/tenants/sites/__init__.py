"""Sites: warehouses whose transport planner signs in with a bearer token of its own."""
