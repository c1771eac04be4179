"""Signing in during an attack: the cost of a guess, who has to wait, and that the owner can still sign in."""

import asyncio
import errno
import os
import threading
import unicodedata
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from argon2 import PasswordHasher

from tests.support.world import PASSWORD, Answer, World, open_world
from wmsd.tenants.accounts import actions
from wmsd.tenants.accounts.passwords import GIVING_WAY

OWNER = "admin@example.com"
NOBODY = "nobody@example.com"
HOME = "203.0.113.1"
EITHER = pytest.mark.parametrize("email", [OWNER, NOBODY])
SETTINGS: dict[str, Any] = {
    "limits": {"auth_per_minute": 10**9},
    "server": {"trusted_proxies": ["127.0.0.0/8"]},
}


class HeldHasher(PasswordHasher):
    """A hasher that checks passwords only when the test lets it, and counts its passwords and how many run at the
    same time.
    """

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.open = threading.Event()
        self.open.set()
        self.given: list[str | bytes] = []
        self.at_once = self.most_at_once = 0
        self.priorities: set[int] = set()
        self._count = threading.Lock()

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
        with self._count:
            self.given.append(password)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            self.priorities.add(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        try:
            assert self.open.wait(30)
            return super().verify(hash, password)
        finally:
            with self._count:
                self.at_once -= 1


class SignInWorld:
    """A world in which the test chooses the client address of each sign-in."""

    def __init__(self, world: World, hasher: HeldHasher) -> None:
        self.world = world
        self.hasher = hasher

    async def sign_in(self, email: str = OWNER, password: str = PASSWORD, address: str = HOME) -> Answer:
        body = {"email": email, "password": password, "abilities": ["*"]}
        forwarded = {"X-Forwarded-For": address}
        return await self.world.send("POST", "/api/auth/token", body, token="", company="", headers=forwarded)

    async def statuses(self, times: int, email: str = OWNER, address: str = HOME) -> list[int]:
        """Send `times` wrong guesses one after the other, and return the statuses."""
        return [(await self.sign_in(email, "wrong", address)).status for _ in range(times)]

    def start(self, email: str, password: str = PASSWORD, address: str = HOME) -> "asyncio.Task[Answer]":
        return asyncio.create_task(self.sign_in(email, password, address))

    async def until_given(self, count: int) -> None:
        await until(lambda: len(self.hasher.given) >= count)

    async def until_under_way(self, count: int) -> None:
        await until(lambda: len(self.world.installation.passwords._under_way) >= count)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110  # there is no event to wait for
            await asyncio.sleep(0.005)


@pytest.fixture
async def sign_ins(tmp_path: Path) -> AsyncIterator[SignInWorld]:
    hasher = HeldHasher()
    async with open_world(tmp_path / "data", SETTINGS, hasher) as world:
        try:
            yield SignInWorld(world, hasher)
        finally:
            hasher.open.set()


def wait_of(answer: Answer, status: int = 429, code: str = "RATE_LIMIT_EXCEEDED") -> int:
    """Return the `Retry-After` seconds of a sign-in whose password was not checked."""
    assert (answer.status, answer.body["code"]) == (status, code), answer.raw
    return int(answer.headers["Retry-After"])


@EITHER
async def test_of_two_hundred_guesses_at_once_one_is_looked_at(sign_ins: SignInWorld, email: str) -> None:
    sign_ins.hasher.open.clear()
    first = sign_ins.start(email, "wrong")
    await sign_ins.until_given(1)
    others = [sign_ins.start(email.upper(), f"wrong {n}", f"198.51.100.{n}") for n in range(200)]
    assert {wait_of(answer) for answer in await asyncio.gather(*others)} == {1}
    sign_ins.hasher.open.set()
    assert (await first).status == 401
    assert sign_ins.hasher.given == ["wrong"]


COMPOSED = "Crème brûlée à midi"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)
NO_BREAK = COMPOSED.replace(" ", "\u00a0")
FORMS = (COMPOSED, DECOMPOSED, NO_BREAK)


@pytest.mark.parametrize("chosen", FORMS)
async def test_a_password_is_right_in_each_of_its_forms(sign_ins: SignInWorld, chosen: str) -> None:
    """Different keyboards send different Unicode forms of a password (RFC 8265)."""
    installation = sign_ins.world.installation
    new = await installation.passwords.hash(chosen)
    await installation.platform.write(lambda tx: actions.set_password(tx, OWNER, new))
    for typed in FORMS:
        assert (await sign_ins.sign_in(password=typed)).status == 200, typed
    assert (await sign_ins.sign_in(password=COMPOSED.replace("è", "e"))).status == 401
    assert (await sign_ins.sign_in(password=COMPOSED.upper())).status == 401


async def test_a_password_that_was_hashed_as_it_was_typed_stays_right_so(sign_ins: SignInWorld) -> None:
    old = sign_ins.hasher.hash(DECOMPOSED)
    await sign_ins.world.installation.platform.write(lambda tx: actions.set_password(tx, OWNER, old))
    assert (await sign_ins.sign_in(password=DECOMPOSED)).status == 200
    assert sign_ins.hasher.given == [COMPOSED, DECOMPOSED]
    assert (await sign_ins.sign_in(password=COMPOSED)).status == 401


@EITHER
async def test_a_wrong_guess_costs_the_same_for_an_account_that_there_is(
    sign_ins: SignInWorld, email: str
) -> None:
    assert (await sign_ins.sign_in(email, "wrong")).status == 401
    assert (await sign_ins.sign_in(email, COMPOSED)).status == 401
    assert sign_ins.hasher.given == ["wrong", COMPOSED]
    assert (await sign_ins.sign_in(email, DECOMPOSED)).status == 401
    assert sign_ins.hasher.given[2:] == [COMPOSED, DECOMPOSED]


async def test_passwords_are_checked_when_nobody_else_wants_the_processor(sign_ins: SignInWorld) -> None:
    assert (await sign_ins.sign_in()).status == 200
    assert sign_ins.hasher.priorities == {os.getpriority(os.PRIO_PROCESS, 0) + GIVING_WAY}


async def test_a_system_that_forbids_priorities_locks_nobody_out(
    sign_ins: SignInWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*arguments: int) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "setpriority", forbidden)
    assert (await sign_ins.sign_in()).status == 200


async def test_a_short_queue_and_beyond_it_503_at_once(sign_ins: SignInWorld) -> None:
    assert (await sign_ins.sign_in()).status == 200
    sign_ins.hasher.given.clear()
    sign_ins.hasher.open.clear()
    queue = [sign_ins.start(f"{n}@example.com", "wrong", f"198.51.100.{n}") for n in range(10)]
    await sign_ins.until_under_way(10)
    assert wait_of(await sign_ins.sign_in(NOBODY, "wrong", "198.51.100.77"), 503, "SERVICE_UNAVAILABLE") > 0
    assert wait_of(await sign_ins.sign_in(address="198.51.100.78"), 503, "SERVICE_UNAVAILABLE") > 0
    owner = sign_ins.start(OWNER)
    await sign_ins.until_under_way(11)
    sign_ins.hasher.open.set()
    assert (await owner).status == 200, "from where the owner signed in before, a full queue is joined"
    assert [(await guess).status for guess in queue] == [401] * 10
    assert (len(sign_ins.hasher.given), sign_ins.hasher.most_at_once) == (11, 1)
    assert sign_ins.hasher.given[1] == PASSWORD, "and there nobody stands before him but who is looked at"


async def test_who_hangs_up_starts_no_second_hash_and_is_counted(sign_ins: SignInWorld) -> None:
    sign_ins.hasher.open.clear()
    guesses = [sign_ins.start(f"{n}@example.com", "wrong") for n in range(6)]
    await sign_ins.until_under_way(6)
    for guess in guesses:
        guess.cancel()
    await asyncio.gather(*guesses, return_exceptions=True)
    later = sign_ins.start(OWNER)
    await sign_ins.until_under_way(7)
    assert wait_of(await sign_ins.sign_in("0@example.com", "wrong")) == 1, "the guess before is still looked at"
    sign_ins.hasher.open.set()
    assert (await later).status == 200
    assert sign_ins.hasher.most_at_once == 1
    assert await sign_ins.statuses(5, "0@example.com") == [401, 401, 401, 401, 429]


@EITHER
async def test_after_five_failures_a_growing_pause_in_which_nothing_is_looked_at(
    sign_ins: SignInWorld, email: str
) -> None:
    assert await sign_ins.statuses(5, email) == [401] * 5
    waits = []
    for _ in range(8):
        looked_at = len(sign_ins.hasher.given)
        waits.append(wait_of(await sign_ins.sign_in(email)))
        assert len(sign_ins.hasher.given) == looked_at
        sign_ins.world.clock.advance(waits[-1] - 0.5)
        assert wait_of(await sign_ins.sign_in(email)) == 1
        sign_ins.world.clock.advance(0.5)
        assert (await sign_ins.sign_in(email, "wrong")).status == 401
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


async def test_a_right_password_ends_the_pauses(sign_ins: SignInWorld) -> None:
    await sign_ins.statuses(6)
    sign_ins.world.clock.advance(60)
    assert (await sign_ins.sign_in()).status == 200
    assert await sign_ins.statuses(6) == [401] * 5 + [429]


@EITHER
async def test_a_pause_is_for_all_addresses_that_the_account_does_not_know(
    sign_ins: SignInWorld, email: str
) -> None:
    for n in range(5):
        assert await sign_ins.statuses(1, email, f"198.51.100.{n}") == [401]
    assert wait_of(await sign_ins.sign_in(email, address="198.51.100.77")) == 1
    other = "somebody.else@example.com"
    assert await sign_ins.statuses(1, other, "198.51.100.77") == [401], "another account is not held up"


async def test_the_owner_gets_in_from_a_known_address_whatever_others_do(sign_ins: SignInWorld) -> None:
    assert (await sign_ins.sign_in()).status == 200
    for n in range(5):
        assert await sign_ins.statuses(1, OWNER, f"198.51.100.{n}") == [401]
    for n in range(5, 8):
        assert await sign_ins.statuses(1, OWNER, f"198.51.100.{n}") == [429]
    assert (await sign_ins.sign_in()).status == 200
    assert await sign_ins.statuses(1, OWNER, "198.51.100.8") == [429], "that helps nobody else"
    sign_ins.hasher.open.clear()
    sign_ins.world.clock.advance(60)
    given = len(sign_ins.hasher.given)
    guess = sign_ins.start(OWNER, "wrong", "198.51.100.9")
    await sign_ins.until_given(given + 1)
    owner = sign_ins.start(OWNER)
    await sign_ins.until_under_way(2)
    sign_ins.hasher.open.set()
    assert ((await guess).status, (await owner).status) == (401, 200)
    assert await sign_ins.statuses(6) == [401] * 5 + [429], "its own pause holds there too"
    assert await sign_ins.statuses(1, OWNER.upper(), HOME) == [429]


async def kept(world: World) -> list[str]:
    def read(tx: Any) -> list[str]:
        return [row[0] for row in tx.rows("SELECT address FROM sign_in_addresses ORDER BY position")]

    return await world.installation.platform.read(read)


async def test_the_ten_most_recent_addresses_of_a_user_are_known(sign_ins: SignInWorld) -> None:
    for n in (*range(12), 3):
        assert (await sign_ins.sign_in(address=f"203.0.113.{n}")).status == 200
    await sign_ins.sign_in(password="wrong", address="203.0.113.99")
    body = {"email": OWNER, "password": PASSWORD, "abilities": ["articles:eat"]}
    await sign_ins.world.call("POST", "/api/auth/token", body, token="", company="", status=422)
    assert await kept(sign_ins.world) == [f"203.0.113.{n}" for n in (2, *range(4, 12), 3)]


async def test_a_user_that_is_disabled_is_treated_as_one_that_is_not_there(sign_ins: SignInWorld) -> None:
    assert (await sign_ins.sign_in()).status == 200
    await sign_ins.world.new_user("other@example.com", "platform-admin")
    await sign_ins.world.installation.platform.write(lambda tx: actions.disable_user(tx, OWNER))
    assert await kept(sign_ins.world) == []
    for n in range(5):
        assert await sign_ins.statuses(1, OWNER, f"198.51.100.{n}") == [401]
    assert (await sign_ins.sign_in()).status == 429
