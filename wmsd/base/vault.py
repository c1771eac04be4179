"""Encrypts texts with the installation's key, so that they are not readable in a file."""

import base64
import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class Vault:
    """A key that encrypts texts with Fernet: AES-128-CBC with a random initialisation vector for each text, and
    HMAC-SHA256.

    `secret` is a text that nobody can guess. The key is derived from this secret only.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def seal(self, text: str) -> str:
        return self._fernet.encrypt(text.encode()).decode()

    def unseal(self, sealed: str) -> str | None:
        """Return the decrypted text. Return None if `sealed` was changed, or if it was encrypted with another key,
        such as the key of another installation.
        """
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet.decrypt(sealed).decode()
        except InvalidToken:
            return None

    def mark(self, text: str) -> str:
        """Return a short keyed hash of the text, to see whether two texts are different. Without the key, the hash
        reveals nothing about the text.
        """
        key = hashlib.sha256(self._secret.encode()).digest()
        return hashlib.blake2b(text.encode(), key=key, digest_size=4).hexdigest()

    @cached_property
    def _fernet(self) -> "Fernet":
        from cryptography.fernet import Fernet  # not imported at the start, which does not need it

        return Fernet(base64.urlsafe_b64encode(hashlib.sha256(self._secret.encode()).digest()))
