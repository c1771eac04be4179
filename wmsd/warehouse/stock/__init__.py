"""Stock: balances, and the ledger of movements that add up to them."""
