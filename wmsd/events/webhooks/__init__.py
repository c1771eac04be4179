"""Webhooks: subscriptions and their deliveries (specification, section 6; decisions, section 6)."""
