"""The last requests of each company: what was asked, what came back, and why it was refused."""
