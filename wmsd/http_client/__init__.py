"""The guarded HTTP client, through which all outgoing requests of the installation go."""
