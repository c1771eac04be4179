"""The outbox, which writes events in the transaction of their change (decisions, section 6)."""
