"""The reach of a user or credential: a role, abilities and companies. This module has no I/O.

A credential is a password, session or token. Its reach is limited to the user's reach at the time when the
credential was created. If the user's reach shrinks, the reach of the credential shrinks too. A credential's reach
never grows.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple, Self

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.contract.access import EVERYTHING, Role, has_role

Companies = frozenset[int] | None
"""The ids of companies. None stands for every company, including companies created later."""


class LinkCreator(NamedTuple):
    """The admin who created the link at which a user chooses a password.

    `companies` are the companies that the admin administered when the link was created. `user_id` is None for the
    command line, or if the admin is unknown.
    """

    companies: Companies = None
    user_id: int | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    role: Role
    abilities: frozenset[str]
    """The names of abilities. EVERYTHING includes the abilities that later versions add."""
    company_ids: Companies

    def both(self, other: "Reach") -> "Reach":
        """Return the rights that are in both this reach and `other`."""
        return Reach(
            other.role if has_role(self.role, other.role) else self.role,
            frozenset(both_abilities(self.abilities, other.abilities)),
            both_companies(self.company_ids, other.company_ids),
        )

    def is_within(self, other: "Reach") -> bool:
        return self.both(other) == self

    def grown_since(self, before: "Reach") -> Companies:
        """Return the companies in which this reach has more rights than `before`."""
        everywhere = replace(before, company_ids=None)
        if self.company_ids is None:
            return frozenset() if self.is_within(before) else None
        if not self.is_within(everywhere):
            return self.company_ids
        return self.company_ids - (self.company_ids if before.company_ids is None else before.company_ids)

    def to_json(self) -> str:
        ids = None if self.company_ids is None else sorted(self.company_ids)
        return dumps({"role": self.role, "abilities": sorted(self.abilities), "company_ids": ids})

    @classmethod
    def from_json(cls, text: str | None) -> Self | None:
        """Read a reach from JSON. If `text` is None, return None, which means that there is no limit."""
        if text is None:
            return None
        found = json.loads(text)
        ids = found["company_ids"]
        return cls(found["role"], frozenset(found["abilities"]), None if ids is None else frozenset(ids))


def companies_from_text(text: str | None) -> Companies:
    return None if text is None else frozenset(json.loads(text))


def companies_to_text(companies: Companies) -> str | None:
    return None if companies is None else dumps(sorted(companies))


def covers(scope: Companies, companies: Companies) -> bool:
    """Return True if `scope` contains all of these companies."""
    return scope is None or (companies is not None and companies <= scope)


def both_companies(first: Companies, second: Companies) -> Companies:
    if first is None or second is None:
        return second if first is None else first
    return first & second


def both_abilities(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """Return the abilities that both lists grant.

    EVERYTHING in a list grants every ability. If one list contains EVERYTHING, return all abilities of the other
    list. If not, keep the order of `first`.
    """
    ours, theirs = list(first), list(second)
    if EVERYTHING in theirs:
        return ours
    return sorted(theirs) if EVERYTHING in ours else [name for name in ours if name in theirs]
