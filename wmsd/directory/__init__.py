"""Clients, partners and warehouses: who the company works for and with, and where its goods stand."""
