"""Returnable packaging: the balances between partners and the company, and their ledger."""
