"""The callers of operations, and the answer that each must get.

The answers are derived from the declarations of the operations, without the code of wmsd that decides access.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from tests.support.asking import DONE, Way
from tests.support.two_tenants import OWN, THEIRS, TwoTenants
from tests.support.world import World
from wmsd.base.strict_json import dumps
from wmsd.contract.access import ABILITIES, EVERYTHING, SUFFICES, Role
from wmsd.contract.operation import Operation
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import actions as accounts

STATUSES: Final[Mapping[str, int]] = {
    "UNAUTHORIZED": 401,
    "COMPANY_REQUIRED": 422,
    "FORBIDDEN": 403,
    "NOT_FOUND": 404,
    "VALIDATION_FAILED": 422,
}
BEARERS: Final = ("nothing", "garbage", "expired", "revoked", "a disabled user's", "a site's", "the kernel's")
ROLES: Final[Sequence[Role]] = ("member", "company-admin", "platform-admin")
ALL: Final = frozenset(ABILITIES)
NOBODYS: Final = "nobody's"
"""The code of a company that does not exist."""


@dataclass(frozen=True)
class Credential:
    """A token. `abilities` and `companies` say what the token allows, and are empty if the token is invalid."""

    name: str
    abilities: frozenset[str] = frozenset()
    companies: frozenset[str] = frozenset()
    is_good: bool = False
    is_of_site: bool = False

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Place:
    """The company and the operator in the headers of a request."""

    name: str
    company: str | None = None
    operator: str | None = None

    def __str__(self) -> str:
        return self.name


PLACES: Final = (
    Place("its own company", OWN),
    Place("its own company, of its operator", OWN, OWN),
    Place("its own company, of another operator", OWN, THEIRS),
    Place("another company", THEIRS),
    Place("a company that is not there", NOBODYS),
    Place("no company"),
)
BAD: Final = tuple(Credential(name, is_of_site=name == "a site's") for name in BEARERS)


def good(role: Role, abilities: Iterable[str], *, only_own: bool = False) -> Credential:
    """Return a valid credential with these abilities.

    A member is limited by the user's abilities, and the token allows everything. In the other roles, the token
    is limited to the abilities.
    """
    having = frozenset(abilities)
    companies = {OWN, THEIRS} if role == "platform-admin" and not only_own else {OWN}
    what = "everything" if having == ALL else ", ".join(sorted(having))
    if len(having) > 5 and having != ALL:
        what = f"all but {', '.join(sorted(ALL - having))}"
    where = f" with a token for {OWN}" if only_own else ""
    return Credential(f"a {role}{where} who may {what}", having, frozenset(companies), is_good=True)


def badges_for(way: Way) -> Iterator[Credential]:
    """Yield the credentials to try for a way: invalid ones, and valid ones in every role.

    The valid credentials have exactly the needed abilities, all abilities except a needed one, or all abilities.
    """
    yield from BAD
    needed = frozenset(each.ability for each in way.operations if each.ability is not None)
    for role in ROLES:
        for having in dict.fromkeys(_having(needed)):
            yield good(role, having)
    yield good("platform-admin", ALL, only_own=True)


def _having(needed: frozenset[str]) -> Iterator[frozenset[str]]:
    yield ALL
    yield needed or frozenset({min(ALL)})
    for ability in sorted(needed):
        yield ALL - {ability}
        if ability in SUFFICES:
            yield ALL - {ability, SUFFICES[ability]}
            yield (needed - {ability}) | {SUFFICES[ability]}


# --- the right answers -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A question by a certain caller about a certain company.

    `off` is the module that is off in the caller's own company. `record` describes the record that the request
    names, and `body` the body that it sends: "right" or "wrong".
    """

    way: Way
    credential: Credential
    place: Place
    off: str | None = None
    record: str = "there"
    body: str = "right"

    def __str__(self) -> str:
        module = "" if self.off is None else f", {self.off} off"
        sent = (
            ""
            if (self.record, self.body) == ("there", "right")
            else f", a record {self.record}, a {self.body} body"
        )
        return f"{self.way} by {self.credential} in {self.place}{module}{sent}"


def right(case: Case, suffices: Mapping[str, str] = SUFFICES) -> str:
    """Return the code of the right answer: the code of the first operation that refuses, or DONE."""
    for place, operation in enumerate(case.way.operations):
        code = _who_and_where(operation, case, suffices)
        if code == DONE and place == 0:
            code = _what(operation, case)
        if code != DONE:
            return code
    return DONE


def _what(operation: Operation, case: Case) -> str:
    if case.record == "that has no id" and int in operation.path_types.values():
        return "NOT_FOUND"  # the address does not exist, so the body does not matter
    if case.body == "wrong":
        return "VALIDATION_FAILED"
    return DONE if case.record == "there" else "NOT_FOUND"


def _who_and_where(operation: Operation, case: Case, suffices: Mapping[str, str]) -> str:
    credential, company = case.credential, case.place.company
    if operation.scope == "site":
        company = OWN
        if not credential.is_of_site:
            return "UNAUTHORIZED"
    elif not credential.is_good:
        return "UNAUTHORIZED"
    elif company not in credential.companies:
        return "COMPANY_REQUIRED"
    elif case.place.operator not in (None, company) or not _has_ability(operation, credential, suffices):
        return "FORBIDDEN"
    is_off = company == OWN and case.off is not None and case.off in ("api", operation.module)
    return "FORBIDDEN" if is_off else DONE


def _has_ability(operation: Operation, credential: Credential, suffices: Mapping[str, str]) -> bool:
    ability = operation.ability
    return ability is None or ability in credential.abilities or suffices.get(ability) in credential.abilities


# --- the tokens --------------------------------------------------------------------------------------------------


@dataclass
class Issuer:
    """The real tokens for credentials. Each is issued only once."""

    world: World
    own: TwoTenants
    _issued: dict[Credential, str | None] = field(default_factory=dict)

    async def issue(self, credentials: Iterable[Credential]) -> None:
        for credential in dict.fromkeys(credentials):
            if credential not in self._issued:
                self._issued[credential] = await (
                    self._good(credential) if credential.is_good else self._bad(credential.name)
                )

    def token(self, credential: Credential) -> str | None:
        return self._issued[credential]

    async def _good(self, credential: Credential) -> str:
        role = next(role for role in ROLES if f"a {role}" in credential.name)
        email = f"user{len(self._issued)}@example.com"
        abilities = sorted(credential.abilities) if credential.abilities != ALL else [EVERYTHING]
        is_cut_by_user = role == "member"
        codes = [] if role == "platform-admin" else sorted(credential.companies)
        user = await self.world.new_user(email, role, codes, [EVERYTHING] if is_cut_by_user else [])
        limited_to = sorted(credential.companies) if len(credential.companies) == 1 else []
        token = await self.world.new_token(email, [EVERYTHING] if is_cut_by_user else abilities, limited_to)
        if is_cut_by_user:
            await self._platform("UPDATE users SET abilities = ? WHERE id = ?", dumps(abilities), user)
        return token

    async def _bad(self, name: str) -> str | None:
        if name == "nothing":
            return None
        if name == "garbage":
            return "garbage"
        if name == "a site's":
            return self.own.site_token
        if name == "the kernel's":
            await self.world.open_kernel()
            return self.world.kernel_token
        email = f"bad{len(self._issued)}@example.com"
        await self.world.new_user(email, "platform-admin")
        token = await self.world.new_token(email, lifetime=timedelta(hours=1 if name == "expired" else 2400))
        if name == "expired":
            self.world.clock.advance(3600)
        elif name == "revoked":
            answer = await self.world.send("POST", "/api/auth/revoke", token=token, company="")
            assert answer.status < 300, answer.raw
        else:
            assert name == "a disabled user's"
            await self.world.installation.platform.write(lambda tx: accounts.disable_user(tx, email))
        return token

    async def _platform(self, sql: str, *parameters: Any) -> None:
        def change(tx: Transaction) -> None:
            tx.execute(sql, parameters)

        await self.world.installation.platform.write(change)
