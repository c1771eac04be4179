"""Commands about webhooks and their deliveries."""
