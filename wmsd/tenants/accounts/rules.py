"""The rules of access rights. This module has no I/O (decisions, section 5)."""

import difflib
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors, forbidden, refuse_errors
from wmsd.contract.access import ABILITIES, EVERYTHING, READ_ABILITIES, SUFFICES, Role, expand
from wmsd.contract.context import Actor, Caller
from wmsd.tenants.accounts.reach import LinkCreator, Reach, both_companies

LONGEST_LOOKED_AT: Final = 64
"""How many characters of a mistyped ability are compared with known names."""


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
    """The reach of the password. None if the password gives all rights of the user. If not, the user must choose a
    new password to get the missing rights.
    """
    password_link_creator: LinkCreator = LinkCreator()
    """The admin who created the link at which the password was chosen."""

    @property
    def may_do(self) -> frozenset[str]:
        """The user's abilities: all abilities for admins, the granted ones for members."""
        return expand(self.abilities) if self.role == "member" else frozenset(ABILITIES)

    @property
    def may_use(self) -> frozenset[int] | None:
        """The ids of the companies that the user may use. None stands for all companies."""
        return None if self.role == "platform-admin" else self.company_ids

    @property
    def reach(self) -> Reach:
        names = self.abilities if self.role == "member" else (EVERYTHING,)
        return Reach(self.role, frozenset(names), self.may_use)

    def within(self, bound: Reach | None) -> "User":
        """Return the user with only the rights in `bound`, the limit of a credential. None means no limit."""
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
    """Return True if an admin may change a user.

    A platform admin may change every user. A company admin may change users who work only in the admin's own
    companies.
    """
    if caller.role != "company-admin":
        return caller.role == "platform-admin"
    own = caller.company_ids or frozenset()
    return user.role != "platform-admin" and bool(user.company_ids) and user.company_ids <= own


def as_far_as(caller: Caller, user: User) -> User:
    """Return `user` with only the rights of the caller's session. `user` must be the user of this session."""
    assert caller.role is not None
    return user.within(Reach(caller.role, caller.abilities, caller.company_ids))


def is_new(user: User, caller: Caller) -> bool:
    """Return True if the user's rights differ from the rights of the caller's session."""
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
    """Return a caller with the token's rights, limited to the rights of its user. Return None if the token is
    revoked or expired, or if its user is disabled.
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
    """Return True if the user must have a second factor. A user without a password signs in through a provider,
    which has separate rules.
    """
    return is_demanded_of_admins and user.role != "member" and bool(user.password_hash)


def check_abilities(requested: Sequence[str], whitelist: Container[str] = ABILITIES) -> FieldErrors:
    """Return an error for each name in `requested` that is not in the platform's whitelist."""
    return {
        f"abilities.{place}": [_unknown(name, whitelist)]
        for place, name in enumerate(requested)
        if name != EVERYTHING and name not in whitelist
    }


def _unknown(name: str, whitelist: Container[str]) -> str:
    if name in SUFFICES:
        return f"is not needed here and cannot be granted: use {SUFFICES[name]} instead"
    known = [each for each in ABILITIES if each in whitelist]
    near = difflib.get_close_matches(name, known, n=1) if len(name) <= LONGEST_LOOKED_AT else []
    if near:
        return f"is not an ability of this platform; the nearest is {near[0]}"
    return "is not an ability of this platform"


def grant(user: User, requested: Sequence[str], whitelist: Container[str] = ABILITIES) -> list[str]:
    """Return the abilities of a new token, each once. Raise Problem: 422 for unknown abilities, 403 for abilities
    that the user does not have.
    """
    refuse_errors(check_abilities(requested, whitelist))
    beyond = sorted(expand(requested) - user.may_do)
    if beyond:
        raise forbidden(
            "A token of this user cannot have these abilities, because the user does not have them: "
            f"{', '.join(beyond)}."
        )
    return list(dict.fromkeys(requested))


def abilities_of_new_user(role: Role, requested: Iterable[str]) -> list[str]:
    """Return the abilities of a new user. A member gets the requested abilities, or all :read abilities if none
    are requested. An admin gets every ability.
    """
    if role != "member":
        return [EVERYTHING]
    return list(dict.fromkeys(requested)) or sorted(READ_ABILITIES)
