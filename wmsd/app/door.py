"""The one door: every operation, from every interface, passes here and is checked the same way.

Authentication, company, ability, module, limit, decoding, unit of work, answer; in this order, so that what
fails authentication or access never uses up a company's budget (decisions, section 8).
"""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from wmsd.app import idempotency, preconditions
from wmsd.app.access_cache import AccessCache
from wmsd.app.byte_budget import ByteBudget
from wmsd.app.call import Call, Loaded, Reply, refusal
from wmsd.app.large_bodies import MEBIBYTE, LargeBodies
from wmsd.app.limits import Limiter
from wmsd.app.replies import reply_of
from wmsd.app.request_counts import RequestCounts
from wmsd.app.settings import Settings
from wmsd.app.storage import Growth, Storage, growth_of
from wmsd.base.access import SUFFICES
from wmsd.base.clock import Clock
from wmsd.base.complaints import FLAPPING_SECONDS, Complaints
from wmsd.base.context import PROGRAM, Caller, Company
from wmsd.base.cursor import CursorSigner
from wmsd.base.listing import CursorQuery, NoQuery, Query
from wmsd.base.operation import Operation
from wmsd.base.problems import FieldErrors, Problem, forbidden, invalid, not_found, unavailable
from wmsd.base.shortages import is_shortage
from wmsd.base.tags import TAGS
from wmsd.base.validation import check
from wmsd.db.company_files import CompanyFiles
from wmsd.db.database import Database
from wmsd.db.failures import (
    MAY_HAVE_HAPPENED,
    STORAGE_FAILURES,
    FileMoved,
    OutOfTime,
    explain,
    is_damage,
)
from wmsd.db.transaction import Transaction

LOG = logging.getLogger("wmsd.door")
Result = TypeVar("Result")
READ_SECONDS: Final = 5.0
"""For a read, with its wait."""
READS_OF_PLATFORM: Final = "reads of platform.db fail"
SHORT_IN_BETWEEN: Final = "The server ran short of memory, threads or open files:"
SHORT: Final = "The server is short of memory, threads or open files; nothing was changed. Try again in a moment."
TOOK_TOO_LONG: Final = f"This read took over {READ_SECONDS:.0f} s and was broken off. Ask for fewer records."
ID = re.compile(r"[1-9][0-9]{0,14}", re.ASCII)


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
        self._limits = settings.limits
        self._suffices = {} if settings.returns.require_write_ability else SUFFICES
        self._clock = clock
        self._platform = platform
        self._files = files
        self._access = access
        self._requests = requests
        self._limiter = limiter
        self._storage = storage
        self._signer = signer
        self._desks = dict(desks)
        self._told = Complaints(LOG, STORAGE_FAILURES, monotonic=clock.monotonic, settled_seconds=FLAPPING_SECONDS)
        self.bodies = LargeBodies()
        self.kept_answers = ByteBudget(32 * MEBIBYTE, 128 * MEBIBYTE, MEBIBYTE, "large batches")
        """Of batches, until all their requests are answered."""
        self._shortages = Complaints(LOG, (RuntimeError,))
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
            caller, company = call.caller, call.tenant = await self._admit(call)
            self._told.over(READS_OF_PLATFORM)
            call.company = None if company is None else str(company.id)  # what a header says is no company yet
            begun.headers = self._take(call, caller, company)
            begun.pending = await self._start(call, caller, company)
        except Exception as error:  # every refusal is an answer
            begun.refused = self._refused(call, error)
        return begun

    async def end(self, begun: Begun) -> Reply:
        """The answer to what was begun."""
        reply = begun.refused
        if begun.pending is not None:
            try:
                reply = await begun.pending
            except Exception as error:  # as above
                reply = self._refused(begun.call, error)
            else:
                self._told.over(_use(begun.call))
        assert reply is not None
        self.answered += 1
        reply.headers = {**begun.headers, **reply.headers}
        return reply

    async def _admit(self, call: Call) -> tuple[Caller | None, Company | None]:
        """Who asks, and for which company. What fails here uses up the caller's address, unless it is counted."""
        if not call.operation.signed_in and not ("company" in call.operation.takes and call.token):
            return None, None
        try:
            if call.operation.scope == "site":
                return await self._admit_site(call)
            if call.operation.scope == "kernel":
                return await self._access.kernel(call.token), None
            caller = await self._access.caller(call.token)
            if call.operation.scope == "platform" and not (call.company and "company" in call.operation.takes):
                return caller, None
            company = await self._company(call, caller)
            if call.operation.scope == "platform":
                return caller, company
            ability = call.operation.ability
            if ability is not None and caller.abilities.isdisjoint({ability, self._suffices.get(ability)}):
                raise forbidden(f"This token lacks the ability {ability}.")
            _check_modules(call.operation, company)
            return caller, company
        except Problem as problem:
            if problem.status != 503 and not call.is_inner:
                self._limiter.take(
                    f"refused:{call.address}", self._limits.refused_per_minute, self._clock.monotonic()
                )
            raise

    async def _admit_site(self, call: Call) -> tuple[Caller, Company]:
        """The bearer says which company it is: whatever the headers say of that is not looked at."""
        caller = await self._access.site_caller(call.token)
        assert caller.site is not None
        call.company, call.operator = str(caller.site.company_id), None
        company = await self._company(call, caller)
        _check_modules(call.operation, company)
        return caller, company

    async def _company(self, call: Call, caller: Caller) -> Company:
        text = call.company or ""
        company = await self._access.company(int(text)) if ID.fullmatch(text) else None
        if company is None or not caller.may_use(company.id):
            raise Problem(
                "COMPANY_REQUIRED",
                "Send X-Company-Id with the id of a company that this token may use (GET /api/companies).",
            )
        if call.operator is not None:
            operator = company.operator
            if operator is None or call.operator != str(operator.id):
                raise forbidden("X-Three-Pl-Id is not the operator of this company.")
        return company

    def _take(self, call: Call, caller: Caller | None, company: Company | None) -> dict[str, str]:
        """Counts the request. The headers say what is left."""
        limits = self._limits
        match "none" if call.is_counted else call.operation.limit:
            case "company":
                assert company is not None
                default = limits.sandbox_per_minute if company.sandbox else limits.data_per_minute
                key, limit = f"company:{company.id}", company.requests_per_minute or default
            case "user":
                assert caller is not None
                key, limit = f"user:{caller.actor.user_id}", limits.data_per_minute
            case "graphql":
                assert caller is not None
                who = f"user:{caller.actor.user_id}" if company is None else f"company:{company.id}"
                own = None if company is None else company.graphql_per_minute
                key, limit = f"graphql:{who}", own or limits.graphql_per_minute
            case "open" | "health" as kind:  # a monitor is not held up by what others read
                key, limit = f"{kind}:{call.address}", limits.open_per_minute
            case "sign-in":
                key, limit = f"sign-in:{call.address}", limits.auth_per_minute
            case _:
                return {}
        allowance = self._limiter.take(key, limit, self._clock.monotonic())
        if company is not None:
            self._requests.note(company.id)
        return allowance.headers()

    def count_open(self, address: str) -> None:
        """A request that needs no token and no operation, such as a page. Raises Problem (429)."""
        self._limiter.take(f"open:{address}", self._limits.open_per_minute, self._clock.monotonic())

    async def _start(self, call: Call, caller: Caller | None, company: Company | None) -> Awaitable[Reply]:
        """Decodes, and hands the unit of work over to the company's file."""
        operation = call.operation
        loaded = await call.load_body() if operation.body is not None and call.load_body else None
        inputs = await self._beside(call, loaded, lambda: self._decode(call, company, loaded))
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

    def _decode(self, call: Call, company: Company | None, loaded: Loaded | None) -> dict[str, Any]:
        """The action's arguments, by name. Raises Problem with every error of query and body at once."""
        operation = call.operation
        inputs = _path_inputs(call)
        errors: FieldErrors = {}
        if operation.query is not None:
            inputs["query"] = _collect(errors, lambda: check(operation.query or NoQuery, call.query))
        elif call.query and not operation.ignores_query:
            _collect(errors, lambda: check(NoQuery, call.query))
        if operation.body is not None:
            model = operation.body
            document, flaws = ({}, {}) if loaded is None else (loaded.document, loaded.flaws)
            sent = {name: value for name, value in document.items() if name not in operation.read_only}
            inputs["body"] = _collect(errors, lambda: check(model, sent, model.own_flaws(flaws)))
        if operation.answer == "cursor" and not errors:
            assert company is not None
            inputs["position"] = _collect(errors, lambda: self._position(operation, inputs["query"], company))
        if "company" in operation.takes:
            inputs["company"] = company
        if "call" in operation.takes:
            inputs["call"] = call
        if "operator_id" in operation.takes:
            inputs["operator_id"] = _collect(errors, lambda: _operator_id(call.operator))
        if errors:
            raise invalid(errors)
        return inputs

    def _position(self, operation: Operation, query: CursorQuery, company: Company) -> int:
        if query.cursor is None:
            return 0
        try:
            return self._signer.position(query.cursor, company.id, operation.name, query.filters())
        except ValueError as error:
            raise invalid({"cursor": [str(error)]}) from None

    def _refused(self, call: Call, error: Exception) -> Reply:
        if isinstance(error, Problem):
            error.__traceback__ = None  # its frames have the future that has the error: as above
            return refusal(error)
        if isinstance(error, OutOfTime):
            return refusal(unavailable(TOOK_TOO_LONG, 5))
        if is_shortage(error):
            self._shortages.failed("requests are refused", error)
            if call.operation.writes and call.operation.needs is not None:  # it may have committed something
                return refusal(Problem("OUTCOME_UNKNOWN", f"{SHORT_IN_BETWEEN} {MAY_HAVE_HAPPENED}"))
            return refusal(unavailable(SHORT, 5))
        if isinstance(error, STORAGE_FAILURES):
            return refusal(self._storage_problem(call, error))
        LOG.error("%s failed", call.operation.name, exc_info=error, extra={"request_id": call.request_id})
        return refusal(_server_error())

    def _storage_problem(self, call: Call, error: Exception) -> Problem:
        problem = explain(error)
        if problem is None:
            LOG.error("%s failed", call.operation.name, exc_info=error, extra={"request_id": call.request_id})
            return _server_error()
        if not isinstance(error, FileMoved):  # told with the company's file
            self._told.failed(_use(call), error, call.request_id)
        if is_damage(error):
            if call.tenant is None:
                return unavailable("The server cannot read its own data now; nothing was changed.", 30)
            self._files.suspect(call.tenant.id, error)
        return problem


def _check_modules(operation: Operation, company: Company) -> None:
    for module in ("api", operation.module):
        if module is not None and module not in company.modules:
            raise forbidden(f"The module {module} is off for this company.")


def _use(call: Call) -> str:
    """What fails when the file that is asked for fails."""
    if call.tenant is None and call.operation.scope == "company":
        return READS_OF_PLATFORM
    use = "writes to" if call.operation.writes else "reads of"
    return f"{use} {'platform.db' if call.tenant is None else f'company {call.tenant.id}'} fail"


def _server_error() -> Problem:
    return Problem("SERVER_ERROR", "Something went wrong on the server. Its log has the request id.")


def _path_inputs(call: Call) -> dict[str, Any]:
    inputs: dict[str, Any] = {}
    for name, kind in call.operation.path_types.items():
        text = call.path[name]
        if kind is int and not ID.fullmatch(text):
            raise not_found(TAGS[call.operation.tag])
        inputs[name] = kind(text)
    return inputs


def _operator_id(text: str | None) -> int | None:
    if text is None:
        return None
    if not ID.fullmatch(text):
        raise invalid({"X-Three-Pl-Id": ["must be the id of an operator"]})
    return int(text)


def _collect(errors: FieldErrors, decode: Callable[[], Any]) -> Any:
    try:
        return decode()
    except Problem as problem:
        if problem.status != 422 or not problem.errors:
            raise
        for path, sentences in problem.errors.items():
            errors.setdefault(path, []).extend(sentences)
        return None
