"""The program `scripts/soak`, which tests the laws of concurrency at full size against a real `wmsd serve`."""
