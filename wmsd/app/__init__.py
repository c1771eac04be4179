"""Makes one service of the rooms: settings, dispatcher, limits, jobs, and the composition root."""
