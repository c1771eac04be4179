"""What `platform.db` holds: companies, users and how they sign in, sites, the day after."""
