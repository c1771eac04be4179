"""What must not stand readable in a file: sealed with the installation's key."""

import base64
import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class Vault:
    """Fernet: AES-128-CBC and HMAC-SHA256, each text with a random vector of its own.

    `secret` is a text that nobody can guess; nothing else is needed to unseal.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def seal(self, text: str) -> str:
        return self._fernet.encrypt(text.encode()).decode()

    def unseal(self, sealed: str) -> str | None:
        """None for what this key has not sealed: the file is of another installation, or was changed."""
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet.decrypt(sealed).decode()
        except InvalidToken:
            return None

    @cached_property
    def _fernet(self) -> "Fernet":
        from cryptography.fernet import Fernet  # a start does not need it

        return Fernet(base64.urlsafe_b64encode(hashlib.sha256(self._secret.encode()).digest()))
