"""The day after a disaster: what must be made anew, and which access may have come back."""
