"""wmsd: a self-hosted warehouse service."""

__version__ = "1.2.0-dev"
