"""The sections of the settings, each in the file of its name."""
