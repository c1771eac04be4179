"""`scripts/soak`: the laws of concurrency, at full size, against a real `wmsd serve`."""
