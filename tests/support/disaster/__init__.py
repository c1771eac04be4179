"""Disaster drills: a site loses data, is rescued, and an integrator continues to read."""
