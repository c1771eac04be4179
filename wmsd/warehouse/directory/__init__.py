"""Clients, partners and warehouses: with whom a company works, and where its goods are."""
