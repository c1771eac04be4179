"""Findings of the doctor about the installation: folder, disk, clock, network, TLS, settings."""
