"""The page Today: all companies of somebody at once, the oldest trouble first."""
