"""The one door: every operation, from every interface, passes here and is checked the same way.

Authentication, company, ability, module, limit, decoding, unit of work, answer; in this order, so that what
fails authentication or access never uses up a company's budget (decisions, section 8).
"""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wmsd.app.access_cache import AccessCache
from wmsd.app.limits import Limiter
from wmsd.app.settings import Settings
from wmsd.base.clock import Clock
from wmsd.base.context import PROGRAM, Caller, Company
from wmsd.base.cursor import CursorSigner
from wmsd.base.fields import Input
from wmsd.base.listing import CursorQuery, NoQuery, PageQuery
from wmsd.base.operation import Operation
from wmsd.base.problems import FieldErrors, Problem, forbidden, invalid, not_found
from wmsd.base.results import CursorPage, Page, Record, Shown
from wmsd.base.strict_json import dumps
from wmsd.base.validation import check
from wmsd.db.company_files import CompanyFiles
from wmsd.db.database import Database
from wmsd.db.failures import explain, is_damage
from wmsd.db.sqlite import sqlite3

LOG = logging.getLogger("wmsd.door")
ID = re.compile(r"[1-9][0-9]{0,14}", re.ASCII)

Loaded = tuple[dict[str, object], FieldErrors]
"""The object in a body, and its flaws by field path."""
LoadBody = Callable[[], Awaitable[Loaded]]


@dataclass(slots=True)
class Call:
    """A request, as an interface hands it in: nothing is checked yet."""

    operation: Operation
    address: str
    request_id: str
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    load_body: LoadBody | None = None
    token: str | None = None
    company: str | None = None
    operator: str | None = None


@dataclass(slots=True)
class Reply:
    status: int
    body: bytes
    headers: dict[str, str]
    created_id: int | None = None


class Door:
    def __init__(
        self,
        *,
        settings: Settings,
        clock: Clock,
        platform: Database,
        files: CompanyFiles,
        access: AccessCache,
        limiter: Limiter,
        signer: CursorSigner,
        desks: Mapping[type, object],
    ) -> None:
        self._limits = settings.limits
        self._clock = clock
        self._platform = platform
        self._files = files
        self._access = access
        self._limiter = limiter
        self._signer = signer
        self._desks = dict(desks)

    def add_desk(self, desk: object) -> None:
        """For what only the interfaces can make, such as their own description."""
        self._desks[type(desk)] = desk

    async def perform(self, call: Call) -> Reply:
        """The answer, whatever happens: a refusal is an answer too."""
        headers: dict[str, str] = {}
        try:
            caller, company = await self._admit(call)
            headers = self._take(call, caller, company)
            return await self._run(call, caller, company, headers)
        except Problem as problem:
            return refusal(problem, headers)
        except sqlite3.Error as error:
            return refusal(self._storage_problem(call, error), headers)
        except Exception:
            LOG.exception("%s failed", call.operation.name, extra={"request_id": call.request_id})
            return refusal(_server_error(), headers)

    async def _admit(self, call: Call) -> tuple[Caller | None, Company | None]:
        """Who asks, and for which company. What fails here uses up the caller's address."""
        if not call.operation.signed_in and not ("company" in call.operation.takes and call.token):
            return None, None
        try:
            caller = await self._access.caller(call.token)
            if call.operation.scope == "platform" and not (call.company and "company" in call.operation.takes):
                return caller, None
            company = await self._company(call, caller)
            if call.operation.scope == "platform":
                return caller, company
            if call.operation.ability is not None and call.operation.ability not in caller.abilities:
                raise forbidden(f"This token lacks the ability {call.operation.ability}.")
            for module in ("api", call.operation.module):
                if module is not None and module not in company.modules:
                    raise forbidden(f"The module {module} is off for this company.")
            return caller, company
        except Problem as problem:
            if problem.status != 503:
                self._limiter.take(
                    f"refused:{call.address}", self._limits.refused_per_minute, self._clock.monotonic()
                )
            raise

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
        match call.operation.limit:
            case "company":
                assert company is not None
                default = limits.sandbox_per_minute if company.sandbox else limits.data_per_minute
                key, limit = f"company:{company.id}", company.requests_per_minute or default
            case "user":
                assert caller is not None
                key, limit = f"user:{caller.actor.user_id}", limits.data_per_minute
            case "sign-in":
                key, limit = f"sign-in:{call.address}", limits.auth_per_minute
            case "none":
                return {}
        return self._limiter.take(key, limit, self._clock.monotonic()).headers()

    async def _run(
        self, call: Call, caller: Caller | None, company: Company | None, headers: dict[str, str]
    ) -> Reply:
        operation = call.operation
        loaded = await call.load_body() if operation.body is not None and call.load_body else None
        inputs = self._decode(call, company, loaded)
        if operation.needs is not None:
            result = await operation.action(self._desks[operation.needs], **inputs)
        else:
            database = await self._files.get(company.id) if company is not None else self._platform
            run = database.write if operation.writes else database.read
            result = await run(
                lambda tx: operation.action(tx, **inputs), PROGRAM if caller is None else caller.actor
            )
        return self._reply(call, company, result, inputs.get("query"), headers)

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
            document, flaws = loaded or ({}, {})
            sent = {name: value for name, value in document.items() if name not in operation.read_only}
            inputs["body"] = _collect(errors, lambda: check(operation.body or Input, sent, flaws))
        if operation.answer == "cursor" and not errors:
            assert company is not None
            inputs["position"] = _collect(errors, lambda: self._position(operation, inputs["query"], company))
        if "company" in operation.takes:
            inputs["company"] = company
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

    def _reply(
        self, call: Call, company: Company | None, result: Any, query: Any, headers: dict[str, str]
    ) -> Reply:
        match result:
            case Record(id=record_id, json=text):
                if not call.operation.creates:
                    return Reply(200, text.encode(), headers)
                return Reply(201, text.encode(), headers, created_id=record_id)
            case Page(records=records, total=total):
                return Reply(200, _page(records, total, query).encode(), headers)
            case CursorPage(records=records, next_position=position):
                assert company is not None
                cursor = None
                if position is not None:
                    name, filters = call.operation.name, query.filters()
                    cursor = self._signer.sign(position, company.id, name, filters)
                text = f'{{"data":[{records}],"next_cursor":{dumps(cursor)}}}'
                return Reply(200, text.encode(), headers)
            case Shown(status=status, body=shown):
                return Reply(status, dumps(shown).encode(), headers)
            case None:
                return Reply(204, b"", headers)
            case _:
                return Reply(200, dumps(result).encode(), headers)

    def _storage_problem(self, call: Call, error: sqlite3.Error) -> Problem:
        problem = explain(error)
        if problem is None:
            LOG.error("%s failed", call.operation.name, exc_info=error, extra={"request_id": call.request_id})
            return _server_error()
        LOG.error("%s: %s", call.operation.name, error, extra={"request_id": call.request_id})
        if is_damage(error) and call.company is not None and ID.fullmatch(call.company):
            self._files.suspect(int(call.company), error)
        return problem


def refusal(problem: Problem, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(problem.status, dumps(problem.body()).encode(), {**(headers or {}), **problem.headers})


def _server_error() -> Problem:
    return Problem("SERVER_ERROR", "Something went wrong on the server. Its log has the request id.")


def _path_inputs(call: Call) -> dict[str, Any]:
    inputs: dict[str, Any] = {}
    for name, kind in call.operation.path_types.items():
        text = call.path[name]
        if kind is int and not ID.fullmatch(text):
            raise not_found(call.operation.tag.lower().rstrip("s"))
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


def _page(records: str, total: int, query: PageQuery) -> str:
    last_page = max(1, -(-total // query.per_page))
    return (
        f'{{"data":[{records}],"meta":{{"current_page":{query.page},"last_page":{last_page},'
        f'"per_page":{query.per_page},"total":{total}}}}}'
    )
