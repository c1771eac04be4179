"""Clients, partners and warehouses: the parties that the company works with, and the places of its goods."""
