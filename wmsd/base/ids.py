"""Random ids and secrets. They are passed in from outside, so that tests can control them."""

import os
import secrets
from typing import Protocol


class Ids(Protocol):
    def unique(self) -> str:
        """A unique id: for events, tokens and requests."""

    def secret(self) -> str:
        """A text that nobody can guess (256 bits, URL-safe)."""


class RandomIds:
    """Draws 256 ids at a time: each draw releases Python's lock, and every request needs an id."""

    def __init__(self) -> None:
        self._drawn: list[str] = []

    def unique(self) -> str:
        try:
            return self._drawn.pop()
        except IndexError:
            try:
                drawn = os.urandom(16 * 256).hex()
            except MemoryError:  # not enough memory for so many
                return os.urandom(16).hex()
            self._drawn += [drawn[place : place + 32] for place in range(32, len(drawn), 32)]
            return drawn[:32]

    def secret(self) -> str:
        return secrets.token_urlsafe(32)
