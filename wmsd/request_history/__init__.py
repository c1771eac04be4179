"""The last requests of each company: what was sent, what came back, and why it was refused."""
