"""Access rights. Pure: rows come in, decisions come out (decisions, section 5)."""

import difflib
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors, forbidden, refuse_errors
from wmsd.contract.access import ABILITIES, EVERYTHING, READ_ABILITIES, SUFFICES, Role, expand
from wmsd.contract.context import Actor, Caller
from wmsd.tenants.accounts.reach import Reach, Voucher, both_companies

LONGEST_LOOKED_AT: Final = 64
"""Characters of what may be a mistyped ability."""


@dataclass(frozen=True, slots=True)
class User:
    id: int
    email: str
    name: str
    role: Role
    password_hash: str
    abilities: tuple[str, ...]
    company_ids: frozenset[int]
    disabled: bool
    password_reach: Reach | None = None
    """What the password opens, where that is less than what the user reaches: the rest waits."""
    password_voucher: Voucher = Voucher()
    """Of whoever made the link at which the password was chosen."""

    @property
    def may_do(self) -> frozenset[str]:
        """The user's abilities: all of them for admins, the granted ones for members."""
        return expand(self.abilities) if self.role == "member" else frozenset(ABILITIES)

    @property
    def may_use(self) -> frozenset[int] | None:
        """The companies that the user may use; None for all of them."""
        return None if self.role == "platform-admin" else self.company_ids

    @property
    def reach(self) -> Reach:
        names = self.abilities if self.role == "member" else (EVERYTHING,)
        return Reach(self.role, frozenset(names), self.may_use)

    def within(self, bound: Reach | None) -> "User":
        """The user as a credential with this bound acts for it; None: no bound."""
        if bound is None:
            return self
        least = self.reach.both(bound)
        return replace(
            self,
            role=least.role,
            abilities=tuple(sorted(least.abilities)),
            company_ids=least.company_ids or frozenset(),
        )


def may_manage(caller: Caller, user: User) -> bool:
    """Whether an admin may change a user: a platform admin everybody, a company admin whoever works in its own
    companies only.
    """
    if caller.role != "company-admin":
        return caller.role == "platform-admin"
    own = caller.company_ids or frozenset()
    return user.role != "platform-admin" and bool(user.company_ids) and user.company_ids <= own


def as_far_as(caller: Caller, user: User) -> User:
    """The user of the caller's session, as far as that session reaches."""
    assert caller.role is not None
    return user.within(Reach(caller.role, caller.abilities, caller.company_ids))


def is_new(user: User, caller: Caller) -> bool:
    """Whether the user reaches more than the caller's session."""
    return (user.role, user.may_do, user.may_use) != (caller.role, caller.abilities, caller.company_ids)


@dataclass(frozen=True, slots=True)
class Token:
    id: int
    name: str
    abilities: tuple[str, ...]
    company_ids: frozenset[int] | None
    expires_at: datetime
    revoked: bool


def caller_of(token: Token, user: User, now: datetime) -> Caller | None:
    """The caller with the token's rights, limited to those of its user. None when the token is revoked or expired,
    or its user is disabled.
    """
    if token.revoked or user.disabled or token.expires_at <= now:
        return None
    return Caller(
        actor=Actor(f"{user.email} ({token.name})", user.id, token.id),
        abilities=expand(token.abilities) & user.may_do,
        company_ids=both_companies(token.company_ids, user.may_use),
        expires_at=token.expires_at,
    )


def needs_second_factor(user: User, is_demanded_of_admins: bool) -> bool:
    """Whether the user must have one. Who has no password signs in through a provider, and it asks for what it
    likes.
    """
    return is_demanded_of_admins and user.role != "member" and bool(user.password_hash)


def check_abilities(requested: Sequence[str], whitelist: Container[str] = ABILITIES) -> FieldErrors:
    """Errors for names that are not in the platform's whitelist."""
    return {
        f"abilities.{place}": [_unknown(name, whitelist)]
        for place, name in enumerate(requested)
        if name != EVERYTHING and name not in whitelist
    }


def _unknown(name: str, whitelist: Container[str]) -> str:
    if name in SUFFICES:
        return f"is not needed here: {SUFFICES[name]} is enough"
    known = [each for each in ABILITIES if each in whitelist]
    near = difflib.get_close_matches(name, known, n=1) if len(name) <= LONGEST_LOOKED_AT else []
    if near:
        return f"is not an ability of this platform; the nearest is {near[0]}"
    return "is not an ability of this platform"


def grant(user: User, requested: Sequence[str], whitelist: Container[str] = ABILITIES) -> list[str]:
    """The abilities of a new token, each once. Raises Problem: 422 for unknown ones, 403 beyond the user's."""
    refuse_errors(check_abilities(requested, whitelist))
    beyond = sorted(expand(requested) - user.may_do)
    if beyond:
        raise forbidden(f"This user may not give {', '.join(beyond)}.")
    return list(dict.fromkeys(requested))


def abilities_of_new_user(role: Role, requested: Iterable[str]) -> list[str]:
    """A member gets the requested abilities, or all reading ones if none are requested. An admin's abilities
    follow from the role.
    """
    if role != "member":
        return [EVERYTHING]
    return list(dict.fromkeys(requested)) or sorted(READ_ABILITIES)
