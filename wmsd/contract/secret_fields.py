"""Marks for the declarations of fields that contain secrets, or paths of files and folders.

Code that displays settings, or that makes relative paths absolute, looks for these marks.
"""


class Secret:
    """A mark for a value that is or may contain a secret, such as an address with a token in its path."""


class SecretFile:
    """A mark for the path of a file that contains a secret."""


class OfPath:
    """A mark for the path of a file or folder."""
