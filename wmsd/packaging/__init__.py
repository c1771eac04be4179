"""Returnable packaging: what partners owe us of it and we owe them, over a ledger of what came and went."""
