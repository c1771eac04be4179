"""Encrypts texts that must not be readable in a file, with the installation's key."""

import base64
import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class Vault:
    """Fernet: AES-128-CBC and HMAC-SHA256, with a random initialisation vector for each text.

    `secret` is a text that nobody can guess; it is all that is needed to unseal.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def seal(self, text: str) -> str:
        return self._fernet.encrypt(text.encode()).decode()

    def unseal(self, sealed: str) -> str | None:
        """The text; None when this key has not sealed it: the file is of another installation, or was changed."""
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet.decrypt(sealed).decode()
        except InvalidToken:
            return None

    def mark(self, text: str) -> str:
        """A short text that differs for another text, and says nothing of it to whoever lacks the key."""
        key = hashlib.sha256(self._secret.encode()).digest()
        return hashlib.blake2b(text.encode(), key=key, digest_size=4).hexdigest()

    @cached_property
    def _fernet(self) -> "Fernet":
        from cryptography.fernet import Fernet  # a start does not need it

        return Fernet(base64.urlsafe_b64encode(hashlib.sha256(self._secret.encode()).digest()))
