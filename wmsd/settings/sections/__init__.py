"""The sections of the settings. Each section is in the module with its name."""
