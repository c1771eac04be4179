"""Pages of webhooks and their deliveries."""
