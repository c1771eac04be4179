"""The guarded HTTP client: whatever leaves the installation goes through it."""
