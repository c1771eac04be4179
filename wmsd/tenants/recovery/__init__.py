"""Tasks after a restore: what must be created again, and which access may have come back."""
