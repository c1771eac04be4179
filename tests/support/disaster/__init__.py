"""Drills: a site loses what it has, is rescued, and an integrator reads on."""
