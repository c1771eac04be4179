"""Counts: what is in stock by those who looked, from the list to the booking of differences."""
