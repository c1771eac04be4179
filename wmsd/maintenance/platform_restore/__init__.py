"""The restore of only `platform.db`, and its reconciliation with the companies' files."""
