"""What helps to find out from afar what is wrong, without secrets and customers."""
