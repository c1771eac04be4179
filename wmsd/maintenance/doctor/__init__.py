"""What doctor finds out about an installation beside its figures: folder, disk, clock, network, certificates."""
