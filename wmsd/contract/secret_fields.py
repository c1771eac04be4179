"""Marks on declared fields: what must not be shown, and what names a file or a folder.

Whoever shows values, or makes paths absolute, looks for the mark.
"""


class Secret:
    """The value is a secret or may hold one, such as an address with a token in its path."""


class SecretFile:
    """The value names a file whose content is a secret."""


class OfPath:
    """The value is the path of a file or of a folder."""
