"""The day after a disaster: what must be created anew, and which access may have come back."""
