"""The metrics of a running server, for Prometheus, `wmsd status` and alerts."""
