"""Random ids and secrets. Callers pass in the source of ids, so that tests can control it."""

import os
import secrets
from typing import Protocol


class Ids(Protocol):
    def unique(self) -> str:
        """Return a unique id for an event, a token or a request."""

    def secret(self) -> str:
        """Return a text that nobody can guess (256 bits, URL-safe)."""


class RandomIds:
    """A source of random ids. Every request needs an id, and each read of random bytes releases Python's lock.
    Therefore one read gets the bytes for 256 ids.
    """

    def __init__(self) -> None:
        self._drawn: list[str] = []

    def unique(self) -> str:
        try:
            return self._drawn.pop()
        except IndexError:
            try:
                drawn = os.urandom(16 * 256).hex()
            except MemoryError:  # not enough memory for so many ids
                return os.urandom(16).hex()
            self._drawn += [drawn[place : place + 32] for place in range(32, len(drawn), 32)]
            return drawn[:32]

    def secret(self) -> str:
        return secrets.token_urlsafe(32)
