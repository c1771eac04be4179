"""Commands that run a server, and look at one that runs."""
