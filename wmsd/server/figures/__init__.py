"""The metrics of a running server, in one reading for Prometheus, `wmsd status` and alerts."""
