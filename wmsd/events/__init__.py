"""Events: written with the change that they report, and sent to webhooks."""
