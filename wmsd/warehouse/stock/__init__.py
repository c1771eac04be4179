"""Stock: balances, and the ledger of movements whose sums are the balances."""
