"""What every page is made with."""
