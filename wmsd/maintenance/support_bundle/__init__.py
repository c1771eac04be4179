"""The support bundle: information for remote diagnosis, without secrets and customer data."""
