"""The dispatcher passes requests to operations. It checks the requests of all interfaces in the same way.

The order of the steps is authentication, company, ability, module, limit, decoding, unit of work, answer. A
request that fails authentication or access therefore never uses up a company's limit (decisions, section 8).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from wmsd.base.clock import Clock
from wmsd.base.cursor import CursorSigner
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.contract.context import PROGRAM, Actor, Caller, Company
from wmsd.contract.list_queries import Query
from wmsd.contract.operation import CONTEXT, MALFORMED
from wmsd.contract.results import Page
from wmsd.contract.validation import well_formed
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.db.files.company_files import CompanyFiles
from wmsd.db.sql.change_sequence import last_moment
from wmsd.db.sql.joined_records import TOO_LARGE
from wmsd.dispatch import idempotency, preconditions
from wmsd.dispatch.access_cache import AccessCache
from wmsd.dispatch.admission import Admission, check_is_on
from wmsd.dispatch.call import Call, Loaded, Reply
from wmsd.dispatch.cursor_lists import walk
from wmsd.dispatch.decoding import decode, may_have_more, path_inputs, settable, with_references
from wmsd.dispatch.freezes import Freezes
from wmsd.dispatch.large_bodies import MEBIBYTE, ByteBudget, LargeBodies
from wmsd.dispatch.limits.costs import Costs
from wmsd.dispatch.limits.growth_limits import Growth, Storage, growth_of
from wmsd.dispatch.limits.page_writes import PageWrites
from wmsd.dispatch.limits.rate_limits import Limiter
from wmsd.dispatch.limits.work_admission import WorkAdmission
from wmsd.dispatch.list_cache import KeptLists, Place, place_of
from wmsd.dispatch.page_pieces import Some, in_pieces, read_some
from wmsd.dispatch.record_audit import Noted, RecordAudit, act_and_audit, is_by_a_person
from wmsd.dispatch.refusals import READ_SECONDS, Refusals
from wmsd.dispatch.replies import reply_of
from wmsd.dispatch.request_counts import RequestCounts
from wmsd.settings.all_settings import Settings

Result = TypeVar("Result")


@dataclass(slots=True)
class PendingCall:
    """A call whose unit of work is running or queued, or whose answer is already known."""

    call: Call
    headers: dict[str, str]
    pending: Awaitable[Reply] | None = None
    reply: Reply | None = None

    def give_up(self) -> None:
        """Stop waiting for the answer. A unit of work that has not started is cancelled; a started one runs to its
        end.
        """
        if isinstance(self.pending, asyncio.Future):
            self.pending.cancel()
        elif isinstance(self.pending, Coroutine):
            self.pending.close()


class Dispatcher:
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
        freezes: Freezes,
        signer: CursorSigner,
        services: Mapping[type, object],
    ) -> None:
        self.admission = Admission(settings, clock, access, requests, limiter)
        self._refusals = Refusals(files, clock)
        self._platform = platform
        self._files = files
        self._storage = storage
        self._freezes = freezes
        self._signer = signer
        self._services = dict(services)
        self._claims = idempotency.Claims()
        self.record_audit = RecordAudit(platform)
        self.bodies = LargeBodies()
        self.kept_answers = ByteBudget(32 * MEBIBYTE, 128 * MEBIBYTE, MEBIBYTE, "large batches")
        """Limits the memory for the answers of batches. An answer stays in memory until all requests of its batch
        are answered.
        """
        self.costs = Costs(clock)
        self.work = WorkAdmission(clock, self.costs)
        self.page_writes = PageWrites(clock)
        self._kept_lists = KeptLists()
        self.answered = 0

    def add_service(self, service: object) -> None:
        """Add a service that operations need. This is for services that an interface creates, such as its API
        description.
        """
        self._services[type(service)] = service

    async def dispatch(self, call: Call) -> Reply:
        """Run a call and return its answer. If the call is refused or fails, return an answer with the error."""
        try:
            return await self.end(await self.begin(call))
        finally:
            # breaks the reference cycle of request and call; only the garbage collector could free it
            call.load_body = None
            if call.held_bytes:
                self.bodies.budget.release(call.company or "", call.held_bytes)

    async def begin(self, call: Call) -> PendingCall:
        """Check the call and start its unit of work. Units of work run in the order in which they were started."""
        pending_call = PendingCall(call, {})
        try:
            caller, company = call.caller, call.tenant = await self.admission.admit(call)
            self._refusals.note_admitted()
            call.company = None if company is None else str(company.id)  # the admitted company, not the header's
            pending_call.headers = self.admission.take(call, caller, company)
            if call.is_of_page and call.operation.writes and caller is not None:
                caller, company = await self._in_turn(call, caller, company)
            place = None if company is None else place_of(call, company.id)
            if place is None or company is None:
                pending_call.pending = await self._start(call, caller, company)
            else:
                await self._start_list(pending_call, place, caller, company)
        except Exception as error:  # every refusal becomes an answer
            pending_call.reply = self._refusals.reply(call, error)
        return pending_call

    async def _in_turn(
        self, call: Call, caller: Caller, company: Company | None
    ) -> tuple[Caller | None, Company | None]:
        """Wait until the write of a person may run. Return the caller and the company. The company is None if the
        operation needs no company.

        If the write had to wait, check again whether the caller may use the operation. Raise Problem if the write
        would wait too long, or if the caller may no longer use the operation.
        """
        person = caller.actor.user_id
        assert person is not None
        has_waited = await self.page_writes.turn(person, None if company is None else company.id)
        self.admission.give_back(call, caller)
        if not has_waited:
            return caller, company
        call.caller, call.tenant = await self.admission.admit(call)
        return call.caller, call.tenant

    async def end(self, pending_call: PendingCall) -> Reply:
        """Wait for the answer of a call that `begin` has started, and return the answer."""
        reply = pending_call.reply
        if pending_call.pending is not None:
            try:
                reply = await pending_call.pending
            except Exception as error:  # every refusal becomes an answer here too
                reply = self._refusals.reply(pending_call.call, error)
            else:
                self._refusals.note_answered(pending_call.call)
        assert reply is not None
        self.answered += 1
        if pending_call.call.beside_seconds:
            self._charge_beside(pending_call.call)
        headers = pending_call.headers
        call = pending_call.call
        if call.method == "GET" and (unchanged := preconditions.unchanged(call.if_none_match, reply)) is not None:
            headers = self.admission.unchanged(call)
            reply = unchanged
        return Reply(reply.status, reply.body, {**call.route_headers, **headers, **reply.headers}, reply.pieces)

    def _charge_beside(self, call: Call) -> None:
        tenant, caller = call.tenant, call.caller
        company_id, user_id = tenant.id if tenant else 0, caller.actor.user_id if caller else None
        self.costs.note_beside(company_id, user_id or 0, call.beside_seconds)

    async def _start_list(
        self, pending_call: PendingCall, place: Place, caller: Caller | None, company: Company
    ) -> None:
        """Take the answer of a list from the cache of lists. If it is not there, start the call as `_start` does.
        `place` is the key in the cache.
        """
        call, database = pending_call.call, await self._files.get(company.id)
        state = database.state
        pending_call.reply = self._kept_lists.find(place, state)
        if pending_call.reply is not None:
            check_is_on(call.operation, company)
            database.standing.check_file()
            return
        pending_call.pending = await self._start(call, caller, company)
        if state is not None:
            self._kept_lists.keep(place, state, pending_call.pending)

    async def _start(self, call: Call, caller: Caller | None, company: Company | None) -> Awaitable[Reply]:
        """Decode the request, and start its unit of work. Return the pending answer."""
        operation = call.operation
        changes = company if operation.writes and operation.scope != "platform" else None
        if changes is not None:
            self._freezes.check(changes)
        loaded = await call.load_body() if operation.body is not None and call.load_body else None
        inputs = await self._decode(call, caller, company, loaded)
        check_is_on(operation, company)
        if not operation.takes.isdisjoint(CONTEXT):
            inputs |= _context(call, caller, company)
        actor = PROGRAM if caller is None else caller.actor
        if operation.needs is not None:
            key = await self._key(call, caller, company, loaded) if operation.writes else None
            return self._flow(call, company, inputs, key, actor, changes)
        if company is None or operation.scope == "platform":
            database, actor = self._platform, replace(actor, address=call.address)
        else:
            database = await self._files.get(company.id)
        if not operation.writes:
            if call.is_long:
                # the sender of the pieces charges for them
                return database.read_long(lambda tx: self._read(tx, call, company, inputs, database, actor), actor)
            query = inputs.get("query")
            is_search = isinstance(query, Query) and query.is_search
            read = database.search if is_search else database.read
            until = time.monotonic() + READ_SECONDS
            return read(
                lambda tx: _charged(call, lambda: self._read(tx, call, company, inputs, database, actor)),
                actor,
                until,
            )
        key = await self._key(call, caller, company, loaded)
        await database.open_writer()
        growth = growth_of(operation, inputs)
        is_audited = operation.audited is not None and is_by_a_person(caller)
        noted = Noted() if is_audited else None

        def write(tx: Transaction) -> Reply:
            if changes is not None:
                self._freezes.check(changes)  # the freeze may have begun while the write was queued
            return self._write(tx, call, company, inputs, growth, noted)

        begun = database.write(
            lambda tx: _charged(call, lambda: idempotency.once(tx, key, write)),
            actor,
            may_use_reserve=growth == "frees",
            may_repeat=not (database is self._platform or operation.is_search or (loaded and loaded.is_large)),
        )
        if noted is None:
            return begun
        return self.record_audit.after(begun, noted, replace(actor, address=call.address))

    async def _decode(
        self, call: Call, caller: Caller | None, company: Company | None, loaded: Loaded | None
    ) -> dict[str, Any]:
        """Return the arguments of the action. Raise Problem with all errors of the request: wrong formats, and
        wrong references to records.
        """
        try:
            return await self._beside(call, loaded, lambda: decode(call, company, loaded, self._signer))
        except Problem as problem:
            find = call.operation.references
            if find is None or loaded is None or company is None or not may_have_more(problem):
                raise
            sent = well_formed(settable(call.operation, loaded.document), problem.errors)
            named = path_inputs(call) | _context(call, caller, company) | {MALFORMED: problem.errors.keys()}
            database, actor = await self._files.get(company.id), PROGRAM if caller is None else caller.actor
            until = time.monotonic() + READ_SECONDS
            found = await database.read(lambda tx: list(find(tx, sent, named)), actor, until)
            raise with_references(problem, found) from None

    async def _beside(self, call: Call, loaded: Loaded | None, work: Callable[[], Result]) -> Result:
        """Run `work`, which processes the whole body of a request. If the body is large, the work runs on a
        thread.
        """
        if loaded is None or not loaded.is_large:
            return work()
        return await self.bodies.run(call.company or "", lambda: _charged(call, work))

    async def _key(
        self, call: Call, caller: Caller | None, company: Company | None, loaded: Loaded | None
    ) -> idempotency.Key | None:
        if company is None or not idempotency.has_key(call):
            return None
        assert caller is not None
        who = caller.actor.user_id if caller.site is None else f"site:{caller.site.id}"
        document = loaded.document if loaded else {}
        return await self._beside(call, loaded, lambda: idempotency.key_of(call, who, document))

    def _read(
        self,
        tx: Transaction,
        call: Call,
        company: Company | None,
        inputs: dict[str, Any],
        database: Database,
        actor: Actor,
    ) -> Reply:
        tx.is_brief, tx.within, tx.needed_fields = call.is_brief, call.within, call.needed_fields
        as_of = partial(last_moment, tx)
        preconditions.check_since(tx, inputs.get("query"), company)
        if call.operation.answer == "cursor" and call.operation.scope in ("company", "site"):
            page, epoch = walk(tx, call, company, inputs, self._signer)
            return reply_of(call, company, page, inputs, self._signer, as_of, epoch)
        result = call.operation.action(tx, **inputs)
        if not isinstance(result, Page) or not result.ids:
            return reply_of(call, company, result, inputs, self._signer, as_of)
        if not call.takes_pieces:
            raise Problem("VALIDATION_FAILED", TOO_LARGE, status=413)

        def read(ids: Sequence[int]) -> Awaitable[Some]:
            return database.read_long(lambda tx: read_some(tx, call.operation, inputs, ids), actor)

        empty = reply_of(call, company, Page("", result.total), inputs, self._signer, as_of)
        return in_pieces(empty, result.ids, read)

    def _write(
        self,
        tx: Transaction,
        call: Call,
        company: Company | None,
        inputs: dict[str, Any],
        growth: Growth,
        noted: Noted | None,
    ) -> Reply:
        if company is not None:
            self._storage.admit(tx, company, growth)
        preconditions.check(tx, call, inputs)
        if noted is None or company is None:
            result = call.operation.action(tx, **inputs)
        else:
            result, noted.entry = act_and_audit(tx, call.operation, company.code, inputs)
        return reply_of(call, company, result, inputs, self._signer)

    async def _flow(
        self,
        call: Call,
        company: Company | None,
        inputs: dict[str, Any],
        key: idempotency.Key | None,
        actor: Actor,
        changes: Company | None,
    ) -> Reply:
        """Run an action that waits for something outside the database, and return its answer. No transaction is
        open while the action waits. `changes` is the company whose data the action changes, or None.
        """
        operation = call.operation
        assert operation.needs is not None
        service = self._services[operation.needs]
        if "caller" in operation.takes and not operation.signed_in:
            inputs["caller"] = await self.admission.known_caller(call)
        if "database" in operation.takes:
            assert company is not None
            inputs["database"] = await self._files.get(company.id)
        if not operation.writes:
            return reply_of(call, company, await operation.action(service, **inputs), inputs, self._signer)
        database = inputs["database"]

        async def act() -> idempotency.Unit:
            end = await operation.action(service, **inputs)
            return lambda tx: reply_of(call, company, end(tx), inputs, self._signer)

        with nullcontext() if changes is None else self._freezes.flow(changes):
            return await self._claims.once(database, key, act, actor)


def _charged(call: Call, work: Callable[[], Result]) -> Result:
    """Run `work` for a call, and add its time to the costs of the call.

    In the task of a request, nothing is added, because the server measures the time of this task. But units of
    work on the event loop run outside of any task.
    """
    try:
        is_measured, now = asyncio.current_task() is not None, time.perf_counter
    except RuntimeError:  # a thread, which may be interrupted by other threads
        is_measured, now = False, time.thread_time
    if is_measured:
        return work()
    began = now()
    try:
        return work()
    finally:
        call.beside_seconds += now() - began


def _context(call: Call, caller: Caller | None, company: Company | None) -> dict[str, Any]:
    """Return the arguments that the operation takes in addition to the client's input: the call, its caller,
    company and site.
    """
    site = None if caller is None else caller.site
    known = {"call": call, "caller": caller, "company": company, "site": site}
    return {name: value for name, value in known.items() if name in call.operation.takes}
