"""Measures wmsd side by side with what it stands on, in one run: a slow machine slows both alike."""
