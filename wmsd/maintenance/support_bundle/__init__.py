"""What helps to find out from afar what is wrong with an installation, without its secrets and its customers."""
