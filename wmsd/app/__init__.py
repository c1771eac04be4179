"""What makes one service of the capabilities: settings, the one door, limits, jobs, the composition root."""
