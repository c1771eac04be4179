"""Passwords: argon2id (RFC 9106), off the event loop, at most two at once: each takes 64 MiB.

A guess that cannot be looked at soon is refused at once: requests that wait are memory that an attacker sizes.
"""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from wmsd.accounts.pauses import Key, Pauses
from wmsd.base.clock import Clock
from wmsd.base.problems import Problem, unavailable

AT_ONCE = 2
MOST_WAITING = 8
QUEUE_SECONDS = 2
"""What a full queue takes to be over, roughly."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose password is guessed, and from where. The e-mail address may be nobody's: it is treated the same."""

    email: str
    address: str
    is_known: bool
    """Whether this user has signed in from this address before: then what others do does not hold it up."""

    @property
    def keys(self) -> tuple[Key, ...]:
        """Under which its failures are noted; the last is also under which one guess at a time is looked at."""
        account = self.email.lower()
        own: Key = (account, self.address)
        return (own,) if self.is_known else (own, (account, None))


class Passwords:
    def __init__(self, clock: Clock, hasher: PasswordHasher | None = None) -> None:
        self._clock = clock
        self._hasher = hasher or PasswordHasher()
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._nobody: str | None = None
        self._pauses = Pauses()
        self._under_way: dict[Key, asyncio.Task[bool]] = {}

    async def hash(self, password: str) -> str:
        return await asyncio.shield(asyncio.create_task(self._in_turn(lambda: self._hasher.hash(password))))

    async def check(self, origin: Origin, password: str, password_hash: str | None) -> bool:
        """Takes as long for a user that is not there (`password_hash` None) as for one that is.

        Raises Problem (429) for a guess that comes in the pause after failures, or beside another at the same
        account, and (503) when too many wait: such a guess is not looked at. One that is, is looked at to its
        end, even if its caller hangs up: what it came to counts.
        """
        self._refuse_early(origin)
        guess = asyncio.create_task(self._check(origin, password, password_hash))
        self._under_way[origin.keys[-1]] = guess
        return await asyncio.shield(guess)

    def _refuse_early(self, origin: Origin) -> None:
        now = self._clock.monotonic()
        pause = max(self._pauses.left(key, now) for key in origin.keys)
        if pause > 0:
            raise _too_soon("Too many failed sign-ins.", math.ceil(pause))
        if origin.keys[-1] in self._under_way:
            raise _too_soon("Another sign-in with this e-mail address is under way.", 1)
        if len(self._under_way) >= AT_ONCE + MOST_WAITING and not origin.is_known:
            raise unavailable(f"Too many sign-ins at once. Try again in {QUEUE_SECONDS} s.", QUEUE_SECONDS)

    async def _check(self, origin: Origin, password: str, password_hash: str | None) -> bool:
        try:
            good = await self._in_turn(lambda: self._verify(password_hash, password))
        finally:
            del self._under_way[origin.keys[-1]]
        now = self._clock.monotonic()
        for key in origin.keys:
            if good:
                self._pauses.forget(key)
            else:
                self._pauses.note_failure(key, now)
        return good

    async def _in_turn(self, work: Callable[[], Result]) -> Result:
        """Never cancelled by a caller who hangs up: the thread would go on, and another begin beside it."""
        async with self._turn:
            return await asyncio.to_thread(work)

    def _verify(self, password_hash: str | None, password: str) -> bool:
        if self._nobody is None:
            self._nobody = self._hasher.hash("nobody has this password")
        try:
            self._hasher.verify(password_hash or self._nobody, password)
        except (VerificationError, InvalidHashError):
            return False
        return password_hash is not None


def _too_soon(why: str, seconds: int) -> Problem:
    return Problem(
        "RATE_LIMIT_EXCEEDED", f"{why} Try again in {seconds} s.", headers={"Retry-After": str(seconds)}
    )
