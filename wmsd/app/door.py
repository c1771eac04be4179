"""The one door: every operation, from every interface, passes here and is checked the same way.

Authentication, company, ability, module, limit, decoding, unit of work, answer; in this order, so that what
fails authentication or access never uses up a company's budget (decisions, section 8).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from wmsd.app import idempotency, preconditions
from wmsd.app.access_cache import AccessCache
from wmsd.app.admission import Admission
from wmsd.app.byte_budget import ByteBudget
from wmsd.app.call import Call, Loaded, Reply
from wmsd.app.decoding import decode
from wmsd.app.large_bodies import MEBIBYTE, LargeBodies
from wmsd.app.limits import Limiter
from wmsd.app.refusals import READ_SECONDS, Refusals
from wmsd.app.replies import reply_of
from wmsd.app.request_counts import RequestCounts
from wmsd.app.settings import Settings
from wmsd.app.storage import Growth, Storage, growth_of
from wmsd.base.clock import Clock
from wmsd.base.context import PROGRAM, Caller, Company
from wmsd.base.cursor import CursorSigner
from wmsd.base.listing import Query
from wmsd.db.company_files import CompanyFiles
from wmsd.db.database import Database
from wmsd.db.transaction import Transaction

Result = TypeVar("Result")


@dataclass(slots=True)
class Begun:
    """A call whose unit of work is under way, or that was refused before it came to that."""

    call: Call
    headers: dict[str, str]
    pending: Awaitable[Reply] | None = None
    refused: Reply | None = None

    def give_up(self) -> None:
        """Nobody waits for it any more. What has not run yet does not run; what has, is whole."""
        if isinstance(self.pending, asyncio.Future):
            self.pending.cancel()
        elif isinstance(self.pending, Coroutine):
            self.pending.close()


class Door:
    def __init__(
        self,
        *,
        settings: Settings,
        clock: Clock,
        platform: Database,
        files: CompanyFiles,
        access: AccessCache,
        requests: RequestCounts,
        limiter: Limiter,
        storage: Storage,
        signer: CursorSigner,
        desks: Mapping[type, object],
    ) -> None:
        self._admission = Admission(settings, clock, access, requests, limiter)
        self._refusals = Refusals(files, clock)
        self._platform = platform
        self._files = files
        self._storage = storage
        self._signer = signer
        self._desks = dict(desks)
        self.bodies = LargeBodies()
        self.kept_answers = ByteBudget(32 * MEBIBYTE, 128 * MEBIBYTE, MEBIBYTE, "large batches")
        """Of batches, until all their requests are answered."""
        self.answered = 0

    def add_desk(self, desk: object) -> None:
        """For what only the interfaces can make, such as their own description."""
        self._desks[type(desk)] = desk

    async def perform(self, call: Call) -> Reply:
        """The answer, whatever happens: a refusal is an answer too."""
        try:
            return await self.end(await self.begin(call))
        finally:
            call.load_body = None  # it has the request, which has the call: the collector would have to part them
            if call.held_bytes:
                self.bodies.budget.release(call.company or "", call.held_bytes)

    async def begin(self, call: Call) -> Begun:
        """All that comes before the unit of work, which is then under way: what was begun first runs first."""
        begun = Begun(call, {})
        try:
            caller, company = call.caller, call.tenant = await self._admission.admit(call)
            self._refusals.note_admitted()
            call.company = None if company is None else str(company.id)  # what a header says is no company yet
            begun.headers = self._admission.take(call, caller, company)
            begun.pending = await self._start(call, caller, company)
        except Exception as error:  # every refusal is an answer
            begun.refused = self._refusals.reply(call, error)
        return begun

    async def end(self, begun: Begun) -> Reply:
        """The answer to what was begun."""
        reply = begun.refused
        if begun.pending is not None:
            try:
                reply = await begun.pending
            except Exception as error:  # as above
                reply = self._refusals.reply(begun.call, error)
            else:
                self._refusals.note_answered(begun.call)
        assert reply is not None
        self.answered += 1
        reply.headers = {**begun.headers, **reply.headers}
        return reply

    def count_open(self, address: str) -> None:
        """A request that needs no token and no operation, such as a page. Raises Problem (429)."""
        self._admission.count_open(address)

    async def _start(self, call: Call, caller: Caller | None, company: Company | None) -> Awaitable[Reply]:
        """Decodes, and hands the unit of work over to the company's file."""
        operation = call.operation
        loaded = await call.load_body() if operation.body is not None and call.load_body else None
        inputs = await self._beside(call, loaded, lambda: decode(call, company, loaded, self._signer))
        site = None if caller is None else caller.site
        if "site" in operation.takes:
            inputs["site"] = site
        if operation.needs is not None:
            return self._flow(call, company, inputs)
        actor = PROGRAM if caller is None else caller.actor
        database = await self._files.get(company.id) if company is not None else self._platform
        if not operation.writes:
            query = inputs.get("query")
            is_search = isinstance(query, Query) and query.is_search
            read = database.search if is_search else database.read
            return read(lambda tx: self._read(tx, call, company, inputs), actor, time.monotonic() + READ_SECONDS)
        key = None
        if company is not None and call.idempotency_key is not None:
            who = actor.user_id if site is None else f"site:{site.id}"
            document = loaded.document if loaded else {}
            key = await self._beside(call, loaded, lambda: idempotency.key_of(call, who, document))
        await database.open_writer()
        growth = growth_of(operation, inputs)
        return database.write(
            lambda tx: self._write(tx, call, company, inputs, key, growth), actor, growth == "frees"
        )

    async def _beside(self, call: Call, loaded: Loaded | None, work: Callable[[], Result]) -> Result:
        """What is done with the whole of a body: beside the event loop, when that takes long."""
        if loaded is None or not loaded.is_large:
            return work()
        return await self.bodies.run(call.company or "", work)

    async def _flow(self, call: Call, company: Company | None, inputs: dict[str, Any]) -> Reply:
        assert call.operation.needs is not None
        result = await call.operation.action(self._desks[call.operation.needs], **inputs)
        return reply_of(call, company, result, inputs, self._signer)

    def _read(self, tx: Transaction, call: Call, company: Company | None, inputs: dict[str, Any]) -> Reply:
        return reply_of(call, company, call.operation.action(tx, **inputs), inputs, self._signer)

    def _write(
        self,
        tx: Transaction,
        call: Call,
        company: Company | None,
        inputs: dict[str, Any],
        key: idempotency.Key | None,
        growth: Growth,
    ) -> Reply:
        """A repetition is answered as before; a new answer is kept in the transaction that it tells of."""
        if key is not None and (kept := idempotency.find(tx, key)) is not None:
            return kept
        if company is not None:
            self._storage.admit(tx, company, growth)
        preconditions.check(tx, call, inputs)
        reply = reply_of(call, company, call.operation.action(tx, **inputs), inputs, self._signer)
        if key is not None:
            idempotency.keep(tx, key, reply)
        return reply
