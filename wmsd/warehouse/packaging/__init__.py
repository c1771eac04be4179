"""Returnable packaging: what partners and we owe each other, and its ledger."""
