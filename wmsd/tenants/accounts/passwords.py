"""Checks passwords with argon2id (RFC 9106), on a thread with a lower priority than the event loop.

One password is hashed at a time, because each takes 64 MiB and four processors. A password that cannot be checked
soon is refused immediately. Waiting requests occupy memory, and an attacker could send any number of them.
"""

import asyncio
import math
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from typing import Final, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass
from wmsd.base.letters import prepared_password
from wmsd.base.problems import Problem, unavailable
from wmsd.tenants.accounts.sign_in_pauses import Key, Pauses

GIVING_WAY: Final = 10
"""How much to increase the nice value of the thread. Threads with normal priority get about ten times as much
processor time.
"""
MOST_UNDER_WAY = 10
QUEUE_SECONDS = 2
"""About how many seconds wmsd needs to check a full queue of passwords. Refused callers are asked to wait this
long.
"""

NO_PASSWORD: Final = ""
"""The hash of a user without a password. This user signs in through a provider, or has not chosen a password after
an invitation. No password matches this hash.
"""

Result = TypeVar("Result")


def lower_priority() -> None:
    """Lower the priority of the calling thread, and of the threads that it starts, below the event loop.

    Linux has a priority for each thread (sched(7)). If the system forbids the change, as a service manager can,
    the priority stays normal.
    """
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + GIVING_WAY)


@dataclass(frozen=True, slots=True)
class Origin:
    """The account and the client address of a sign-in. The account may be an e-mail address that no user has."""

    email: str
    """The user's e-mail address as it is stored, or the normalised address if no user has it."""
    address: str
    is_known: bool
    """Whether this user has signed in from this client address before. If so, failures from other addresses do not
    delay the sign-in.
    """

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys under which failures are counted.

        The first key is the account with this client address. If the user has never signed in from this address,
        there is a second key: the account with None, which stands for all unknown addresses. wmsd checks only one
        password at a time for sign-ins with the same last key.
        """
        own: Key = (self.email, self.address)
        return (own,) if self.is_known else (own, (self.email, None))


class Passwords:
    def __init__(self, clock: Clock, hasher: PasswordHasher | None = None) -> None:
        self._clock = clock
        self._hasher = hasher or PasswordHasher()
        self._thread = ThreadPoolExecutor(1, "wmsd-passwords", initializer=lower_priority)
        self._strangers = asyncio.Lock()
        """A lock for sign-ins from unknown addresses. Only one of them is in the thread's queue at a time. So a
        sign-in from a known address does not wait for them.
        """
        self._nobody: str | None = None
        self._pauses = Pauses()
        self._under_way: dict[Key, asyncio.Task[bool]] = {}

    async def hash(self, password: str) -> str:
        prepared = prepared_password(password)
        return await asyncio.shield(asyncio.create_task(self._in_turn(lambda: self._hasher.hash(prepared))))

    async def check(self, origin: Origin, password: str, password_hash: str | None) -> bool:
        """Return True if the password is right. `password_hash` is None for an unknown user. For an unknown user,
        return False, after the time that a check takes.

        Raise Problem without checking the password in these cases. 429: the pause after failures has not ended, or
        another password for the last of `origin.keys` is being checked. 503: too many passwords are being checked,
        and the user has never signed in from this client address.

        If the caller disconnects during a check, the check still ends, and its result counts.
        """
        self._refuse_early(origin)
        guess = asyncio.create_task(self._check(origin, password, password_hash))
        self._under_way[origin.keys[-1]] = guess
        return await asyncio.shield(guess)

    def _refuse_early(self, origin: Origin) -> None:
        now = self._clock.monotonic()
        pause = max(self._pauses.left(key, now) for key in origin.keys)
        if pause > 0:
            raise too_soon("Too many failed sign-ins.", math.ceil(pause))
        if origin.keys[-1] in self._under_way:
            raise too_soon("Another sign-in with this e-mail address is in progress.", 1)
        if len(self._under_way) >= MOST_UNDER_WAY and not origin.is_known:
            raise unavailable(
                f"Too many sign-ins at the same time. Try again in {QUEUE_SECONDS} s.", QUEUE_SECONDS
            )

    async def _check(self, origin: Origin, password: str, password_hash: str | None) -> bool:
        try:
            async with nullcontext() if origin.is_known else self._strangers:
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
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _verify(self, password_hash: str | None, password: str) -> bool:
        if self._nobody is None:
            self._nobody = self._hasher.hash("nobody has this password")
        # before 1.2, passwords were hashed without normalisation
        typed = dict.fromkeys((prepared_password(password), password))
        return any(self._is_right(password_hash or self._nobody, each) for each in typed) and bool(password_hash)

    def _is_right(self, password_hash: str, password: str) -> bool:
        try:
            return self._hasher.verify(password_hash, password)
        except (VerificationError, InvalidHashError):
            return False


def too_soon(why: str, seconds: int) -> Problem:
    return Problem(
        "RATE_LIMIT_EXCEEDED", f"{why} Try again in {seconds} s.", headers={"Retry-After": str(seconds)}
    )
