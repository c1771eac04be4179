"""The work of a running server besides answering requests: jobs, alerts, metrics, health."""
