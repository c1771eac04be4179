"""Marks what must not be shown, where it is declared. Whoever shows it looks for the mark."""


class Secret:
    """The value is a secret or may hold one, such as an address with a token in its path."""


class SecretFile:
    """The value names a file whose content is a secret."""
