"""Clients, partners and warehouses: whom a company works with, and where its goods are."""
