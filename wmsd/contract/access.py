"""Abilities, modules and roles. All of them are declared in this module (specification sections 1 and 5)."""

from collections.abc import Container, Iterable, Mapping
from typing import Final, Literal

from wmsd.base.dataclass import dataclass

EVERYTHING: Final = "*"

ABILITIES: Final[dict[str, str]] = {
    "articles:read": "read articles",
    "articles:write": "create and update articles, one at a time or many at once (sync)",
    "stock:read": "read stock",
    "stock:count": "create counts and enter counted quantities",
    "stock:write": "book counts, adjust stock, put stock in quarantine and release it",
    "sales-orders:read": "read sales orders",
    "sales-orders:write": "create and update sales orders",
    "purchase-orders:read": "read purchase orders",
    "purchase-orders:write": "create and update purchase orders",
    "receptions:read": "read receptions",
    "receptions:write": "create and update receptions",
    "returns:read": "read returns",
    "returns:write": "create and update returns",
    "webhooks:read": "read webhook subscriptions, webhook deliveries and the event log",
    "webhooks:write": "configure webhooks",
    "clients:read": "read clients",
    "partners:read": "read partners",
    "partners:write": "create and change partners and clients",
    "warehouses:read": "read warehouses",
}
"""Every ability. A list of abilities may also contain `*`, which stands for all of them."""

ABILITIES_SINCE: Final = dict.fromkeys(("stock:count", "stock:write", "partners:write"), "1.2.0")
"""The version that introduced each ability, for the abilities that came after version 1.1.0."""

SUFFICES: Final[dict[str, str]] = {"returns:write": "returns:read"}
"""For each ability, a weaker ability that may replace it. A token needs only the weaker ability, unless the
settings require the full one. In the browser, users always need the full ability.
"""

OPENS_BOTH: Final[dict[str, str]] = {
    "returns:read": "read returns; tokens with it may also create returns and change their status (changes stock)"
}
"""What each weaker ability of `SUFFICES` permits if the settings do not require the full ability."""

READ_ABILITIES: Final = frozenset(name for name in ABILITIES if name.endswith(":read"))


@dataclass(frozen=True, slots=True)
class AbilitySet:
    """The abilities for one kind of work, which admins can choose together."""

    name: str
    """The name of the set on the command line."""
    text: str
    """The name of the set in the browser."""
    says: str
    abilities: frozenset[str]


OFFICE: Final = AbilitySet(
    "office",
    "Office",
    "creates and changes articles, partners, clients, sales orders, purchase orders and returns, "
    "and reads all records except webhooks",
    READ_ABILITIES - {"webhooks:read"}
    | {"articles:write", "sales-orders:write", "purchase-orders:write", "returns:write", "partners:write"},
)
WAREHOUSE: Final = AbilitySet(
    "warehouse",
    "Warehouse",
    "counts and adjusts stock, creates and changes sales orders, receptions and returns, and reads "
    "all records except webhooks",
    READ_ABILITIES - {"webhooks:read"}
    | {"stock:count", "stock:write", "sales-orders:write", "receptions:write", "returns:write"},
)
READS_ONLY: Final = AbilitySet("reads-only", "Reads only", "reads all records and changes nothing", READ_ABILITIES)
ABILITY_SETS: Final = (OFFICE, WAREHOUSE, READS_ONLY)

SETS: Final = {each.name: each for each in ABILITY_SETS}


def with_sets(names: Iterable[str]) -> list[str]:
    """Return the named abilities without duplicates. The name of a set stands for all abilities of the set."""
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
    "company-admin": "everything, in the user's companies",
    "member": "only the granted abilities, in the user's companies",
}
"""All roles, from the one with the most rights to the one with the fewest."""


def has_role(role: Role | None, least: Role) -> bool:
    """Return True if `role` has all rights of the role `least`."""
    ranked = list(ROLES)
    return role is not None and ranked.index(role) <= ranked.index(least)


@dataclass(frozen=True, slots=True)
class Whitelist:
    """The abilities that tokens may have in an installation."""

    abilities: Mapping[str, str]
    """Each ability with a text that says what it permits."""


def abilities_in_force(requires_write_ability: bool) -> dict[str, str]:
    """Return the abilities that tokens may have in an installation, each with a text that says what it permits.

    Unless the settings require returns:write, returns:read is enough to read and to write returns.
    """
    if requires_write_ability:
        return ABILITIES
    return {name: OPENS_BOTH.get(name, what) for name, what in ABILITIES.items() if name not in SUFFICES}


def needed_ability(declared: str | None, in_force: Container[str]) -> str | None:
    """Return the ability that a token needs for an operation. `declared` is the ability that the operation
    declares.

    `in_force` are the abilities that tokens may have in this installation. If `declared` is not among them, return
    the weaker ability from `SUFFICES`. If `declared` is None, the operation needs no ability: return None.
    """
    return declared if declared is None or declared in in_force else SUFFICES[declared]


def ability_to_read(ability: str) -> str:
    """Return the ability to read the kind of records that `ability` is about, such as `stock:read` for
    `stock:write`.
    """
    return f"{ability.partition(':')[0]}:read"


def expand(abilities: Iterable[str]) -> frozenset[str]:
    """Return the abilities that the names in `abilities` stand for. `*` stands for all abilities."""
    names = frozenset(abilities)
    return frozenset(ABILITIES) if EVERYTHING in names else names
