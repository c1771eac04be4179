"""The sections of the settings, each in the module with its name."""
