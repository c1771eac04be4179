"""The sections of the settings, each in a file with its name."""
