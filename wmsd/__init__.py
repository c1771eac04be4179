"""wmsd: the warehouse service that a small site can own."""

__version__ = "1.2.0-dev"
