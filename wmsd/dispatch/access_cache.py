"""The cache of callers and companies. wmsd reads them from `platform.db` when they are first needed. It empties
the cache when data about access changes in `platform.db`.

A change by this process takes effect with the next request. A change by another process, such as the command line,
takes effect within a second: a job checks whether `platform.db` has changed. If it has, the job compares
`access_version`, a number that changes only with data about access. So other changes do not empty the cache. To
read a thousand companies and their tokens again takes a second of processor time.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import field
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.contract.context import Actor, Caller, Company
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import sessions, token_store
from wmsd.tenants.accounts.rules import Token, User, caller_of
from wmsd.tenants.accounts.sessions import Lifetimes, Session, SessionUses
from wmsd.tenants.accounts.token_addresses import Known, TokenAddresses
from wmsd.tenants.accounts.tokens import jti_of
from wmsd.tenants.companies import store as companies
from wmsd.tenants.keys import bearers, key_store
from wmsd.tenants.keys.bearers import owner_of, secret_hash
from wmsd.tenants.sites import store as sites

Result = TypeVar("Result")
MOST_TOKENS = 10_000
KERNEL = Caller(Actor("kernel"), frozenset(), frozenset())
"""The caller that has the platform token. This caller may use no company."""


@dataclass(slots=True)
class _Kept:
    """The data that was read since access data last changed. `forget` replaces this object by an empty one. A read
    that is running at that time still writes its result to the old object, which is no longer used.
    """

    reads: dict[str, "asyncio.Future[Any]"] = field(default_factory=dict)
    """The reads that are running now. The key says what is read."""
    tables: dict[str, Any] = field(default_factory=dict)
    """The tables of which all rows are cached: the signing keys, and the tokens of sites and of the platform."""
    companies: dict[int, Company] | None = None
    by_name: list[Company] = field(default_factory=list)
    callers: dict[str, Caller] = field(default_factory=dict)
    sessions: dict[str, tuple[Session, Caller]] = field(default_factory=dict)
    """The sessions and their callers, by the hash of the session secret."""


class AccessCache:
    def __init__(
        self,
        platform: Database,
        clock: Clock,
        lifetimes: Lifetimes,
        session_uses: SessionUses,
        demands_second_factor: bool = False,
    ) -> None:
        """Create the cache. `lifetimes` are the lifetimes of sessions. `demands_second_factor` is True if admins
        must have a second factor.
        """
        self._demands_second_factor = demands_second_factor
        self._platform = platform
        self._clock = clock
        self._lifetimes = lifetimes
        self._version: tuple[int, int, int] | None = None
        self._access_version: int | None = None
        self._kept = _Kept()
        self.note_companies: Callable[[Collection[int]], None] | None = None
        """A function that is called each time wmsd reads the companies. It gets the ids of all companies."""
        self._uses = defaultdict[str, dict[int, tuple[datetime, str]]](dict)
        """The time and the client address of the last use of each token. The first key is the table (tokens of
        users, of sites, or of the platform), the second key is the id of the token.
        """
        self._addresses = TokenAddresses()
        self._session_uses, self._seen = session_uses, session_uses.seen
        self._noted: dict[int, datetime] = {}
        """The time of last use that `platform.db` already contains, by session id."""

    def forget(self) -> None:
        self._kept = _Kept()

    async def forget_if_changed(self) -> bool:
        """Return True if `platform.db` has changed since the last check. Empty the cache if `access_version` has
        changed too.
        """
        version = await self._platform.data_version()
        if version == self._version:
            return False
        access_version = await self._platform.read(lambda tx: tx.value("SELECT version FROM access_version"))
        if access_version != self._access_version:
            self.forget()
        self._version, self._access_version = version, access_version
        return True

    async def _read_once(self, what: str, action: Callable[[Transaction], Result]) -> Result:
        """Run `action` in a read transaction and return its result. `what` names the result: callers with the same
        `what` share one read.
        """
        reads = self._kept.reads
        reading = reads.get(what)
        if reading is None:
            reading = reads[what] = asyncio.ensure_future(self._platform.read(action))
            reading.add_done_callback(partial(_has_read, reads, what))
        result: Result = await asyncio.shield(reading)
        return result

    async def _table(self, what: str, read: Callable[[Transaction], Result]) -> Result:
        """Return the cached table `what`. If it is not cached, read it with `read`. The table stays cached until
        access data changes.
        """
        tables = self._kept.tables
        if what not in tables:
            tables[what] = await self._read_once(what, read)
        result: Result = tables[what]
        return result

    @property
    def entries(self) -> int:
        return len(self._kept.callers) + len(self._kept.companies or ())

    async def caller(self, token: str | None, address: str) -> Caller:
        """Return the caller who owns this token, and note that the token was used from this address. Raise Problem
        (401) if the token is not valid.
        """
        if not token:
            raise unauthorized("This request needs a token: send Authorization: Bearer <token>.")
        caller = self._kept.callers.get(token) or await self._look_up(token)
        now = self._clock.now()
        if caller.expires_at is not None and caller.expires_at <= now:
            raise unauthorized()
        if caller.actor.token_id is not None:
            self._uses["tokens"][caller.actor.token_id] = now, address
        return caller

    async def _look_up(self, token: str) -> Caller:
        callers = self._kept.callers
        keys = await self._table("signing keys", lambda tx: dict(key_store.signing_keys(tx)))
        jti = jti_of(token, keys)
        if jti is None:
            raise unauthorized()
        found = await self._read_once(jti, lambda tx: _found(tx, jti))
        caller = caller_of(*found, self._clock.now()) if found else None
        if caller is None:
            raise unauthorized()
        if len(callers) >= MOST_TOKENS:
            callers.clear()
        callers[token] = caller
        return caller

    async def session_caller(self, secret: str, address: str, asks_by_itself: bool = False) -> Caller:
        """Return the person with this session. Raise Problem (401) if the session is not valid.

        Pass `asks_by_itself=True` for a request that a page has sent automatically. Such a request does not count
        as use of the session.
        """
        hash_ = secret_hash(secret)
        is_displaced, known = self._session_uses.is_displaced(hash_), self._kept.sessions
        found = None if is_displaced else known.get(hash_)
        if found is None:
            read = await self._read_once(hash_, lambda tx: sessions.find(tx, hash_))
            if read is None or read.user.disabled:
                raise unauthorized(sessions.TOO_MANY_PLACES if is_displaced else "You are no longer signed in.")
            found = read.session, sessions.caller_of(read, self._demands_second_factor)
            if len(known) >= MOST_TOKENS:
                known.clear()
            known[hash_] = found
        session, caller = found
        now = self._clock.now()
        seen_at, _ = self._seen.get(session.id, (session.seen_at, ""))
        if session.is_over(max(seen_at, session.seen_at), now, self._lifetimes):
            raise unauthorized("You were signed out because you were inactive.")
        if not asks_by_itself:
            self._seen[session.id] = now, address
        return caller

    async def session_user(self, secret: str) -> int | None:
        """Return the id of the session's user. A session that expired after the server started still counts.

        Return None in these cases:
        - The session is unknown, or a person has ended it.
        - The session expired before the server started.
        - The user is disabled.
        """
        hash_ = secret_hash(secret)
        former = self._session_uses.former_user(hash_)
        if former is not None:
            return former
        found = await self._read_once(hash_, lambda tx: sessions.find(tx, hash_))
        return None if found is None or found.user.disabled else found.session.user_id

    async def ended_of(self, session_ids: Collection[int]) -> set[int]:
        """Return the ids in `session_ids` whose sessions have ended."""
        if not session_ids:
            return set()
        return set(session_ids) - await self._platform.read(lambda tx: sessions.left_of(tx, session_ids))

    async def write_session_uses(self) -> None:
        """Write the time of last use of each session to `platform.db`. Skip times that `platform.db` already
        contains.
        """
        seen = {each: at for each, at in self._seen.items() if self._noted.get(each) != at[0]}
        if seen:
            rows = [(timestamps.to_text(moment), address, each) for each, (moment, address) in seen.items()]
            await self._platform.write(lambda tx: sessions.note_seen(tx, rows), is_quiet=True)
            self._noted.update({each: moment for each, (moment, _) in seen.items()})

    async def sweep_sessions(self) -> int:
        """Delete the expired sessions and return how many were deleted."""
        ended = await self._platform.write(lambda tx: sessions.end_old(tx, self._lifetimes), is_quiet=True)
        for hash_, user_id in ended:
            self._session_uses.expire(hash_, user_id)
        if ended:
            for kept in (self._seen, self._noted, self._kept.sessions):
                kept.clear()
        return len(ended)

    async def site_caller(self, token: str | None, address: str = "") -> Caller:
        """Return the site that the bearer token belongs to, and note that the token was used from this address.
        Raise Problem (401) if the token is not valid.
        """
        if not token:
            raise unauthorized("This request needs the token of a site: send Authorization: Bearer <token>.")
        known = await self._table("sites", sites.bearers)
        now = self._clock.now()
        site = owner_of(token, known, now)
        if site is None:
            raise unauthorized()
        self._uses["sites"][site.id] = now, address
        return sites.caller_of_site(site)

    async def kernel(self, token: str | None, address: str = "") -> Caller:
        """Return the caller with the platform token, and note that the token was used from this address. Raise
        Problem (401) if the token is not valid.
        """
        if not token:
            raise unauthorized("This request needs the platform token: send Authorization: Bearer <token>.")
        from wmsd.tenants.accounts import kernel_tokens  # imported here, because a start does not need the module

        known = await self._table("kernel tokens", kernel_tokens.accepted)
        now = self._clock.now()
        token_id = owner_of(token, known, now)
        if token_id is None:
            raise unauthorized()
        self._uses["kernel_tokens"][token_id] = now, address
        return KERNEL

    async def company(self, company_id: int) -> Company | None:
        known = self._kept.companies
        return (await self.companies() if known is None else known).get(company_id)

    async def companies(self) -> dict[int, Company]:
        kept = self._kept
        if kept.companies is None:
            found = await self._read_once("companies", companies.companies)
            kept.companies = {company.id: company for company in found}
            kept.by_name = sorted(found, key=lambda each: (each.name.casefold(), each.id))
            if self.note_companies is not None and kept is self._kept:
                self.note_companies(kept.companies.keys())
        return kept.companies

    async def others(self, caller: Caller, company_id: int, most: int) -> list[Company]:
        """Return the companies that the caller may use, without the company `company_id`. Sort them by name, and
        return at most `most`.
        """
        kept, own = self._kept, caller.company_ids
        await self.companies()
        them = (each for each in kept.by_name if each.id != company_id and (own is None or each.id in own))
        return list(islice(them, most))

    async def write_token_uses(self) -> None:
        """Write the times of last use of every kind of token. A job calls this once a minute. So a request that
        only reads does not have to write the time itself.
        """
        uses = self._uses.copy()
        self._uses.clear()
        if not uses:
            return

        new: list[Known] = []

        def write(tx: Transaction) -> None:
            new[:] = [self._addresses.tell(tx, _rows(uses["tokens"]))]
            for table, of_table in uses.items():
                bearers.note_uses(tx, table, _rows(of_table))

        try:
            await self._platform.write(write, is_quiet=True)
            self._addresses.note_known(*new)
        except BaseException:  # keep the uses; the next run writes them
            for table, of_table in uses.items():
                self._uses[table] = {**of_table, **self._uses[table]}
            raise


def _rows(uses: Mapping[int, tuple[datetime, str]]) -> list[dict[str, object]]:
    return [
        {"id": each, "at": timestamps.to_text(moment), "address": address}
        for each, (moment, address) in uses.items()
    ]


def _has_read(reads: dict[str, "asyncio.Future[Any]"], what: str, reading: "asyncio.Future[Any]") -> None:
    del reads[what]
    if not reading.cancelled():
        reading.exception()  # so that asyncio does not log the error if no caller waits any more


def _found(tx: Transaction, jti: str) -> tuple[Token, User] | None:
    return token_store.token_and_user(tx, jti=jti)


def unauthorized(message: str = "The token is missing, invalid, revoked or expired.") -> Problem:
    return Problem("UNAUTHORIZED", message, headers={"WWW-Authenticate": "Bearer"})
