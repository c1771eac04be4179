"""The transport integration: for the bearers of sites only, and in no public description."""
