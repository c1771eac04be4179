"""The figures of a running server, one reading for Prometheus, `wmsd status` and alerts."""
