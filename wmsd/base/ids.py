"""Random names come in from outside, so that tests can steer them."""

import secrets
from typing import Protocol


class Ids(Protocol):
    def unique(self) -> str:
        """A name that nothing else has: for events, tokens and requests."""
        ...

    def secret(self) -> str:
        """A text that nobody can guess (256 bits, URL-safe)."""
        ...


class RandomIds:
    def unique(self) -> str:
        return secrets.token_hex(16)

    def secret(self) -> str:
        return secrets.token_urlsafe(32)
