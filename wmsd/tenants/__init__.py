"""What `platform.db` holds: companies, users and how they sign in, sites, and what a restore leaves open."""
