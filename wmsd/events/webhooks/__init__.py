"""Webhooks: subscriptions and their deliveries (specification, section 6)."""
