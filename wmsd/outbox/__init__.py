"""Events, written in the transaction of the change that they tell of (decisions, section 6)."""
