"""What somebody reaches: a role, abilities and companies. Pure.

A user has a reach. Each credential of the user (password, session, token) has at most the reach that the user had
when the credential was made: it shrinks with the user's, and never grows.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple, Self

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.contract.access import EVERYTHING, Role, has_role

Companies = frozenset[int] | None
"""Their ids; None: every company, also those that are made later."""


class Voucher(NamedTuple):
    """Who made the link of a password: the companies that it administered then, and its user id; None: the command
    line, or nobody knows any more.
    """

    companies: Companies = None
    user_id: int | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    role: Role
    abilities: frozenset[str]
    """Names. EVERYTHING covers also those that later versions add."""
    company_ids: Companies

    def both(self, other: "Reach") -> "Reach":
        """What is in both of them."""
        return Reach(
            other.role if has_role(self.role, other.role) else self.role,
            frozenset(both_abilities(self.abilities, other.abilities)),
            both_companies(self.company_ids, other.company_ids),
        )

    def is_within(self, other: "Reach") -> bool:
        return self.both(other) == self

    def grown_since(self, before: "Reach") -> Companies:
        """The companies in which this reaches more than `before`."""
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
        """None: no bound."""
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
    """Whether all these companies are in the scope."""
    return scope is None or (companies is not None and companies <= scope)


def both_companies(first: Companies, second: Companies) -> Companies:
    if first is None or second is None:
        return second if first is None else first
    return first & second


def both_abilities(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """The names that both grant, in the order of the first where it names them."""
    ours, theirs = list(first), list(second)
    if EVERYTHING in theirs:
        return ours
    return sorted(theirs) if EVERYTHING in ours else [name for name in ours if name in theirs]
