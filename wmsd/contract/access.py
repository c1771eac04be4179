"""Abilities, modules and roles. They are declared only here (specification sections 1 and 5)."""

from collections.abc import Container, Iterable, Mapping
from typing import Final, Literal

from wmsd.base.dataclass import dataclass

EVERYTHING: Final = "*"

ABILITIES: Final[dict[str, str]] = {
    "articles:read": "read articles",
    "articles:write": "create and update articles, article sync",
    "stock:read": "read stock",
    "stock:count": "create counts, and enter what was counted",
    "stock:write": "book what was counted, adjust stock, put it into quarantine and release it",
    "sales-orders:read": "read sales orders",
    "sales-orders:write": "create and update sales orders",
    "purchase-orders:read": "read purchase orders",
    "purchase-orders:write": "create and update purchase orders",
    "receptions:read": "read receptions",
    "receptions:write": "create and update receptions",
    "returns:read": "read returns",
    "returns:write": "create and update returns",
    "webhooks:read": "read webhook subscriptions, deliveries and the event log",
    "webhooks:write": "configure webhooks",
    "clients:read": "read clients",
    "partners:read": "read partners",
    "partners:write": "create and change partners and clients",
    "warehouses:read": "read warehouses",
}
"""Every ability that there can be; the only other one is `*`, everything."""

ABILITIES_SINCE: Final = dict.fromkeys(("stock:count", "stock:write", "partners:write"), "1.2.0")
"""The release that brought an ability, for those that were not there in 1.1.0."""

SUFFICES: Final[dict[str, str]] = {"returns:write": "returns:read"}
"""Which ability of a token is enough in place of another. Tokens have the other only where the settings require
it; people always need it.
"""

OPENS_BOTH: Final[dict[str, str]] = {"returns:read": "read, create and move returns, which changes stock"}
"""What an ability of a token opens where it is enough in place of another."""

READ_ABILITIES: Final = frozenset(name for name in ABILITIES if name.endswith(":read"))


@dataclass(frozen=True, slots=True)
class AbilitySet:
    """The abilities that a kind of work needs, for admins to pick at once."""

    name: str
    """On the command line."""
    text: str
    """At the pages."""
    says: str
    abilities: frozenset[str]


OFFICE: Final = AbilitySet(
    "office",
    "Office",
    "writes articles, partners, clients, sales orders, purchase orders and returns, and reads all records except "
    "webhooks",
    READ_ABILITIES - {"webhooks:read"}
    | {"articles:write", "sales-orders:write", "purchase-orders:write", "returns:write", "partners:write"},
)
WAREHOUSE: Final = AbilitySet(
    "warehouse",
    "Warehouse",
    "counts and adjusts stock, writes sales orders, receptions and returns, and reads all records except webhooks",
    READ_ABILITIES - {"webhooks:read"}
    | {"stock:count", "stock:write", "sales-orders:write", "receptions:write", "returns:write"},
)
READS_ONLY: Final = AbilitySet("reads-only", "Reads only", "reads all records and changes nothing", READ_ABILITIES)
ABILITY_SETS: Final = (OFFICE, WAREHOUSE, READS_ONLY)

SETS: Final = {each.name: each for each in ABILITY_SETS}


def with_sets(names: Iterable[str]) -> list[str]:
    """The abilities that are named, each set among them as its abilities, each once."""
    sets = {name: [ability for ability in ABILITIES if ability in each.abilities] for name, each in SETS.items()}
    return list(dict.fromkeys(ability for name in names for ability in sets.get(name, [name])))


MODULES: Final[dict[str, str]] = {
    "api": "the REST and GraphQL interfaces",
    "articles": "articles",
    "stock": "stock and packaging",
    "outbound": "sales orders",
    "inbound": "purchase orders and receptions",
    "returns": "returns",
    "webhooks": "webhooks and the event log",
}

Role = Literal["platform-admin", "company-admin", "member"]
ROLES: Final[dict[Role, str]] = {
    "platform-admin": "everything, in every company",
    "company-admin": "everything, in its companies",
    "member": "its own abilities, in its companies",
}
"""From the role that may do most to the one that may do least."""


def has_role(role: Role | None, least: Role) -> bool:
    """Whether somebody of this role may do what needs the role `least`."""
    ranked = list(ROLES)
    return role is not None and ranked.index(role) <= ranked.index(least)


@dataclass(frozen=True, slots=True)
class Whitelist:
    """The abilities that tokens may have in an installation."""

    abilities: Mapping[str, str]
    """Each with what it opens."""


def abilities_in_force(requires_write_ability: bool) -> dict[str, str]:
    """The abilities that tokens may have in an installation, each with what it opens: its whitelist. Without
    returns:write, returns:read is enough for both.
    """
    if requires_write_ability:
        return ABILITIES
    return {name: OPENS_BOTH.get(name, what) for name, what in ABILITIES.items() if name not in SUFFICES}


def needed_ability(declared: str | None, in_force: Container[str]) -> str | None:
    """The ability that a token needs in an installation, for the one that an operation declares."""
    return declared if declared is None or declared in in_force else SUFFICES[declared]


def ability_to_read(ability: str) -> str:
    """The ability that reads what one shows or changes."""
    return f"{ability.partition(':')[0]}:read"


def expand(abilities: Iterable[str]) -> frozenset[str]:
    """The abilities that a list of names grants: `*` grants all of them."""
    names = frozenset(abilities)
    return frozenset(ABILITIES) if EVERYTHING in names else names
