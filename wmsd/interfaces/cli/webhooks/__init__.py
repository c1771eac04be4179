"""Commands about webhooks and webhook deliveries."""
