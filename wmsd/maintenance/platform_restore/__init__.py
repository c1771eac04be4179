"""The restore of `platform.db` alone, and its reconciliation with the companies' files."""
