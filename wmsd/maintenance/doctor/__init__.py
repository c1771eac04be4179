"""Findings of the doctor beyond wrong numbers: folder, disk, clock, network, TLS, settings."""
