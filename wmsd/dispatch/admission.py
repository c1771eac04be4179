"""Decides whether a caller may use an operation, for which company, and how often."""

from collections.abc import Container
from contextlib import suppress
from typing import Final

from wmsd.base.clock import Clock
from wmsd.base.problems import Problem, forbidden
from wmsd.contract.access import abilities_in_force
from wmsd.contract.context import Caller, Company
from wmsd.contract.operation import Operation
from wmsd.contract.permissions import Permissions
from wmsd.db.engine.sqlite import sqlite3
from wmsd.dispatch.access_cache import AccessCache
from wmsd.dispatch.call import Call
from wmsd.dispatch.decoding import ID, operator_id
from wmsd.dispatch.limits import company_limits
from wmsd.dispatch.limits.rate_limits import Limiter
from wmsd.dispatch.request_counts import RequestCounts
from wmsd.settings.all_settings import Settings

SUSPENDED: Final = "The company {} has been suspended since {}. Its data is kept; ask the platform admin."
BECAUSE: Final = "The company {} has been suspended since {}: {}. Its data is kept; ask the platform admin."


def check_not_suspended(company: Company) -> None:
    """Raise Problem (403) if the company is suspended."""
    if company.suspended_at is not None:
        raise suspended(company.code, company.suspended_at, company.suspended_because)


def suspended(code: str, since: str, because: str | None) -> Problem:
    return forbidden(BECAUSE.format(code, since, because) if because else SUSPENDED.format(code, since))


class Admission:
    def __init__(
        self, settings: Settings, clock: Clock, access: AccessCache, requests: RequestCounts, limiter: Limiter
    ) -> None:
        self._limits = settings.limits
        self.in_force = abilities_in_force(settings.returns.require_write_ability)
        self._clock = clock
        self._access = access
        self._requests = requests
        self._limiter = limiter

    async def admit(self, call: Call) -> tuple[Caller | None, Company | None]:
        """Return the caller and the company of a call. The caller or the company is None if the operation does not
        need it.

        Raise Problem if the call is refused. A refusal counts against the client's address, unless `call.is_inner`
        is True.
        """
        has_credential = call.token or call.session
        if not call.operation.signed_in and not ("company" in call.operation.takes and has_credential):
            return None, None
        try:
            if call.operation.scope == "site":
                return await self._admit_site(call)
            if call.operation.scope == "kernel":
                return await self._access.kernel(call.token, call.address), None
            caller = await self._caller(call)
            if call.operation.about_token and call.session is not None:
                raise forbidden(
                    "This request returns data about its own token, and a browser session has no token. Send "
                    "the request with a token."
                )
            if caller.must_enrol and not call.operation.enrols:
                raise forbidden("Set up a second factor first: this service requires one for admins.")
            if call.operation.scope == "installation":
                self._check(call, caller)
                return caller, None
            if call.operation.scope == "platform" and not (call.company and "company" in call.operation.takes):
                return caller, None
            company = await self._company(call, caller)
            if call.operation.scope == "platform":
                return caller, company
            self._check(call, caller, company.modules)
            return caller, company
        except Problem as problem:
            if problem.status != 503 and not call.is_inner:
                self._limiter.take(
                    f"refused:{call.address}", self._limits.refused_per_minute, self._clock.monotonic()
                )
            raise

    def _check(self, call: Call, caller: Caller, modules: Container[str] = ()) -> None:
        """Raise Problem (403) if the caller may not use the operation."""
        is_person = call.session is not None
        permissions = Permissions(caller.role, caller.abilities, self.in_force, modules, is_person)
        if objection := permissions.objection(call.operation, call.query):
            raise forbidden(objection)

    async def _caller(self, call: Call) -> Caller:
        if call.session is not None:
            return await self._access.session_caller(call.session, call.address, call.asks_by_itself)
        return await self._access.caller(call.token, call.address)

    async def _admit_site(self, call: Call) -> tuple[Caller, Company]:
        """Return the caller and the company of a request with a site's bearer token. The company is that of the
        site: headers that name a company are ignored.
        """
        caller = await self._access.site_caller(call.token, call.address)
        assert caller.site is not None
        call.company, call.operator = str(caller.site.company_id), None
        company = await self._company(call, caller)
        self._check(call, caller, company.modules)
        return caller, company

    async def _company(self, call: Call, caller: Caller) -> Company:
        text = call.company or ""
        company = await self._access.company(int(text)) if ID.fullmatch(text) else None
        if company is None or not caller.may_use(company.id):
            raise Problem(
                "COMPANY_REQUIRED",
                "Send X-Company-Id with the id of a company that this token may use (GET /api/companies).",
            )
        call.known = caller, company
        check_not_suspended(company)
        sent = operator_id(call.operator)
        if sent is not None:
            operator = company.operator
            if operator is None or sent != operator.id:
                raise forbidden(
                    "X-Three-Pl-Id is not the id of this company's operator. Correct the "
                    "id, or leave the header out."
                )
        return company

    def take(self, call: Call, caller: Caller | None, company: Company | None) -> dict[str, str]:
        """Count the request against its rate limit. Raise Problem (429) if the limit is used up.

        Return the headers that tell the client how many requests the limit still allows.
        """
        limits = self._limits
        match "none" if call.is_counted else call.operation.limit:
            # people in the browser never use up the limit of programs
            case "company" | "user" if call.is_of_page:
                assert caller is not None
                if call.operation.writes:
                    return {}  # `PageWrites` limits the pace of these writes
                key, limit, company = _of_person(caller, call.asks_by_itself), limits.pages_per_minute, None
            case "company":
                assert company is not None
                key, limit = self._of_company(company)
            case "user":
                assert caller is not None
                key, limit = f"user:{caller.actor.user_id}", limits.data_per_minute
            case "graphql":
                assert caller is not None
                who = f"user:{caller.actor.user_id}" if company is None else f"company:{company.id}"
                key, limit = f"graphql:{who}", limits.graphql_per_minute
                if company is not None:
                    limit = company_limits.graphql_per_minute(company, limits).value
            case "open" | "health" as kind:  # public reads never use up the limit of a monitor
                key, limit = f"{kind}:{call.address}", limits.open_per_minute
            case "sign-in":
                key, limit = f"sign-in:{call.address}", limits.auth_per_minute
            case _:
                return {}
        allowance = self._limiter.take(key, limit, self._clock.monotonic())
        call.counted = key, limit
        if company is not None:
            self._requests.note(company.id)
        return allowance.headers()

    def give_back(self, call: Call, caller: Caller) -> None:
        """Remove the reads in `call.counted_before` from the count of the person's requests. The page has sent
        these reads only to prepare the write `call`. Writes have their own limit (`PageWrites`).
        """
        own = _of_person(caller, call.asks_by_itself)
        for _ in range(call.counted_before.count(own)):
            self._limiter.remove_last(own, self._clock.monotonic())

    def _of_company(self, company: Company) -> tuple[str, int]:
        """Return the rate limit key and the limit for the company's data requests."""
        return f"company:{company.id}", company_limits.requests_per_minute(company, self._limits).value

    def used(self, company: Company) -> tuple[int, int]:
        """Return how many data requests of the company were counted in the last minute, and the
        company's limit.
        """
        key, limit = self._of_company(company)
        return self._limiter.used(key, self._clock.monotonic()), limit

    def unchanged(self, call: Call) -> dict[str, str]:
        """Correct the count of a request whose answer is 304, because the client already has the data. Of ten such
        requests, only one counts. Return the same headers as `take`.
        """
        if call.counted is None:
            return {}
        return self._limiter.unchanged(*call.counted, self._clock.monotonic()).headers()

    async def known_caller(self, call: Call) -> Caller | None:
        """Return the caller of an operation that works with or without sign-in. Return None if the credentials are
        not valid or cannot be checked.
        """
        try:
            return await self._caller(call)
        except (Problem, sqlite3.Error):
            return None

    def count_visit(self, kind: str, address: str) -> None:
        """Count a visit without sign-in that calls no operation. Each `kind` of visit has one limit per `address`.
        Raise Problem (429) if the limit is reached.
        """
        self._limiter.take(f"{kind}:{address}", self._limits.open_per_minute, self._clock.monotonic())

    async def count_session(self, secret: str, address: str) -> bool:
        """Count a visit of a signed-in person against the person's limit, and return True. Raise Problem (429) if
        the limit is reached.

        Return False if the session is not valid or cannot be checked. Checking an unknown session needs a read of
        the database. Therefore the number of invalid sessions per address is limited. If this limit is reached,
        return False without a check.
        """
        refused, now = f"refused:{address}", self._clock.monotonic()
        try:
            self._limiter.check(refused, self._limits.refused_per_minute, now)
            caller = await self._access.session_caller(secret, address, asks_by_itself=True)
        except Problem as problem:
            if problem.status == 401:
                with suppress(Problem):  # the limit was reached meanwhile: the visit counts by address only
                    self._limiter.take(refused, self._limits.refused_per_minute, now)
            return False
        except sqlite3.Error:
            return False
        self._limiter.take(_of_person(caller), self._limits.pages_per_minute, now)
        return True


def _of_person(caller: Caller, asks_by_itself: bool = False) -> str:
    """Return the rate limit key that all sessions of a person share. Requests that open pages send automatically
    have a separate key. Therefore these requests do not use up the limit of the person's own requests.
    """
    return f"{'open-pages' if asks_by_itself else 'person'}:{caller.actor.user_id}"


def check_is_on(operation: Operation, company: Company | None) -> None:
    """Raise Problem (403) if the operation is switched off for this company, for example because the company is a
    sandbox.
    """
    if operation.off_because is not None and company is not None:
        because = operation.off_because(company)
        if because is not None:
            raise forbidden(because)
