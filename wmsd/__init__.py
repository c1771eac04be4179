"""wmsd: the warehouse service that a small site can own."""

__version__ = "0.1.0"
