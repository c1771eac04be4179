"""Returnable packaging: balances of what partners owe us and we owe them, and the ledger of its movements."""
