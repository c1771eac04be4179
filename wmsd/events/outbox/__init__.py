"""The outbox: writes events in the transaction of the change that they report (decisions, section 6)."""
