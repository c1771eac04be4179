"""The figures of a running server: for Prometheus, `wmsd status` and alerts, all from one reading."""
