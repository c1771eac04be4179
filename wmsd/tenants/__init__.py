"""The content of `platform.db`: companies, users, sign-in, sites, and tasks after a restore."""
