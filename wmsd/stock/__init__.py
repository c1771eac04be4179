"""Stock: balances, and the ledger of movements whose sums they are."""
