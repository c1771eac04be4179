"""Commands about companies, users, tokens and sites."""
