"""Stock counts, from the list of goods to the booking of differences."""
