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
    """Whether its sandboxes may send webhooks."""


@dataclass(frozen=True, slots=True)
class Company:
    """A tenant, as the process holds it in memory."""

    id: int
    code: str
    name: str
    operator: Operator | None = None
    sandbox: bool = False
    modules: frozenset[str] = field(default_factory=frozenset)
    requests_per_minute: int | None = None
    graphql_per_minute: int | None = None
    quota_megabytes: int | None = None
    """How large its file may grow, in megabytes."""
    held_before: int | None = 0
    """The bytes that it held before companies had shares of the disk; None: nobody has noted it yet."""
    frozen_at: str | None = None
    """Since when it takes no changes and sends no webhooks, because it is being moved."""
    suspended_at: str | None = None
    """Since when nobody may use it, because a site admin has said so."""
    suspended_because: str | None = None
    """What its people are told of that."""
    time_zone: str | None = None
    """The name of its own; None: that of the installation."""

    @property
    def sends_nothing(self) -> bool:
        """Whether its webhooks wait until a move or a suspension is over."""
        return self.frozen_at is not None or self.suspended_at is not None


@dataclass(frozen=True, slots=True)
class TransportSite:
    """A warehouse of a company whose transport planner signs in with its own token."""

    id: int
    name: str
    company_id: int
    warehouse_id: int
    warehouse_code: str


@dataclass(frozen=True, slots=True)
class Actor:
    """The originator of a change, as ledgers and audits store it."""

    name: str
    user_id: int | None = None
    token_id: int | None = None
    address: str | None = None
    """The network address that the request came from, where audits keep it."""


PROGRAM = Actor("wmsd")
"""The service itself, and the site admin at the command line."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request, with a token's rights limited to those of its user."""

    actor: Actor
    abilities: frozenset[str]
    company_ids: frozenset[int] | None
    """None: every company of the installation."""
    expires_at: datetime | None = None
    site: TransportSite | None = None
    """The site of the bearer token, which may use only the operations of sites."""
    session_id: int | None = None
    """The session of a person at the pages."""
    role: Role | None = None
    """The role of the person at the pages."""
    must_enrol: bool = False
    """Whether a second factor is demanded of this person, who has none yet."""

    def may_use(self, company_id: int) -> bool:
        return self.company_ids is None or company_id in self.company_ids


class FromAddress(Protocol):
    """What signing in needs from the request besides its body."""

    @property
    def address(self) -> str: ...


class FromBrowser(FromAddress, Protocol):
    @property
    def agent(self) -> str: ...
