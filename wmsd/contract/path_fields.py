"""Marks what names a file or a folder, where it is declared. Whoever makes paths absolute looks for the mark."""


class OfPath:
    """The value is the path of a file or of a folder."""
