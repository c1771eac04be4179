"""What the doctor finds beside wrong figures: folder, disk, clock, network, TLS, settings."""
