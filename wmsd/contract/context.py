"""The actor and the company of a unit of work."""

from dataclasses import field
from datetime import datetime
from typing import Protocol

from wmsd.base.dataclass import dataclass
from wmsd.contract.access import Role


@dataclass(frozen=True, slots=True)
class Operator:
    """A third-party-logistics operator."""

    id: int
    code: str
    name: str
    sandbox: bool
    sandbox_webhooks: bool = False
    """True if sandbox companies (companies for trials) of this operator may send webhooks."""


@dataclass(frozen=True, slots=True)
class Company:
    """A company (tenant) with its settings, as a running process holds it in memory."""

    id: int
    code: str
    name: str
    operator: Operator | None = None
    sandbox: bool = False
    modules: frozenset[str] = field(default_factory=frozenset)
    requests_per_minute: int | None = None
    graphql_per_minute: int | None = None
    quota_megabytes: int | None = None
    """The largest allowed size of the company's file, in megabytes, or None for no limit."""
    held_before: int | None = 0
    """How many bytes the company used when wmsd introduced disk shares. The number is 0 for a company that was
    created later. It is None if it is not stored yet.
    """
    frozen_at: str | None = None
    """The time since which the company accepts no changes and sends no webhooks, because it is being moved. None
    if the company is not being moved.
    """
    suspended_at: str | None = None
    """The time since which no user may use the company, because a platform admin has suspended it. None if the
    company is not suspended.
    """
    suspended_because: str | None = None
    """The reason for the suspension, as it is displayed to the company's users. None if the company is not
    suspended, or if the admin gave no reason.
    """
    time_zone: str | None = None
    """The name of the company's time zone. None if the company uses the time zone of the installation."""

    @property
    def sends_nothing(self) -> bool:
        """True if the company's webhooks wait until a move or a suspension is over."""
        return self.frozen_at is not None or self.suspended_at is not None


@dataclass(frozen=True, slots=True)
class TransportSite:
    """A site: a warehouse of a company. The transport planner of this warehouse signs in with the site's own
    bearer token.
    """

    id: int
    name: str
    company_id: int
    warehouse_id: int
    warehouse_code: str


@dataclass(frozen=True, slots=True)
class Actor:
    """The user, token or program that makes a change, as ledgers and audits store it."""

    name: str
    user_id: int | None = None
    token_id: int | None = None
    address: str | None = None
    """The network address of the request, or None if the address is not stored with the change."""


PROGRAM = Actor("wmsd")
"""The actor for changes that wmsd makes itself, and for changes by the platform admin at the command line."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request. The rights of a token are limited to the rights of its user."""

    actor: Actor
    abilities: frozenset[str]
    company_ids: frozenset[int] | None
    """The companies that the caller may use. None means every company of the installation."""
    expires_at: datetime | None = None
    site: TransportSite | None = None
    """The site, if the request has the bearer token of a site. Such a token may use only operations with the scope
    "site".
    """
    session_id: int | None = None
    """The session of a user in the browser, or None for a token."""
    role: Role | None = None
    """The role of a user in the browser, or None for a token."""
    must_enrol: bool = False
    """True if this user must have a second factor, but has not set it up yet."""

    def may_use(self, company_id: int) -> bool:
        return self.company_ids is None or company_id in self.company_ids


class FromAddress(Protocol):
    """A request with the network address of the client, for operations that store or check the address."""

    @property
    def address(self) -> str: ...


class FromBrowser(FromAddress, Protocol):
    @property
    def agent(self) -> str: ...
