"""Passwords: argon2id (RFC 9106), off the event loop, at most two at once: each takes 64 MiB."""

import asyncio
from functools import partial

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

AT_ONCE = 2
PATIENCE = 5
LONGEST_WAIT = 8.0
MOST_REMEMBERED = 10_000


class Passwords:
    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._nobody: str | None = None
        self._failures: dict[str, int] = {}

    async def hash(self, password: str) -> str:
        async with self._turn:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def check(self, email: str, password: str, password_hash: str | None) -> bool:
        """Takes as long for a user that is not there (`password_hash` None) as for one that is.

        After 5 failures an account's checks wait, longer each time and 8 s at most; it is never locked.
        """
        key = email.lower()
        beyond = self._failures.get(key, 0) - PATIENCE
        if beyond >= 0:
            await asyncio.sleep(min(0.5 * 2 ** min(beyond, 10), LONGEST_WAIT))
        async with self._turn:
            good = await asyncio.to_thread(partial(self._verify, password_hash, password))
        if good:
            self._failures.pop(key, None)
        else:
            self._remember_failure(key)
        return good

    def _verify(self, password_hash: str | None, password: str) -> bool:
        if self._nobody is None:
            self._nobody = self._hasher.hash("nobody has this password")
        try:
            self._hasher.verify(password_hash or self._nobody, password)
        except (VerificationError, InvalidHashError):
            return False
        return password_hash is not None

    def _remember_failure(self, key: str) -> None:
        failures = self._failures.pop(key, 0) + 1
        self._failures[key] = failures
        if len(self._failures) > MOST_REMEMBERED:
            del self._failures[next(iter(self._failures))]
