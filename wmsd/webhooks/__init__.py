"""Webhooks: subscriptions, and what is sent to them (specification section 6; decisions section 6)."""
