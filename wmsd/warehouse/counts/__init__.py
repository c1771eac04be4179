"""Counts of the goods in stock, from the list of goods to the booking of differences."""
