"""The rules that decide who may sign in through a provider, and with which rights. This module has no I/O."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from wmsd.base.email_addresses import check_mailbox
from wmsd.contract.access import Role
from wmsd.tenants.accounts.rules import User, abilities_of_new_user
from wmsd.tenants.sign_on.providers import Provider, Rule

LONGEST_NAME: Final = 255
SHOWN: Final = 100
"""The maximum number of characters of a claim that a message contains."""
NO_EMAIL: Final = (
    "Ask the admin of the provider to verify your address, or ask a platform admin to trust the provider's "
    "addresses."
)
UNLINK: Final = "Ask a platform admin to check whether both accounts are yours, and to unlink the other account."


class Person(NamedTuple):
    """A person, as the provider describes the person. If the provider sends no e-mail address that wmsd can trust,
    `email` is None, and `doubt` gives the reason.
    """

    subject: str
    email: str | None
    doubt: str | None
    name: str

    @property
    def called(self) -> str:
        return self.email or self.name or self.subject


class Refusal(NamedTuple):
    """The reason why a person may not sign in. `because` completes the sentence "You cannot sign in: …". `remedy`
    is a sentence that says what to do.
    """

    because: str
    remedy: str


class Rights(NamedTuple):
    role: Role
    company_ids: frozenset[int]
    abilities: tuple[str, ...]


class Known(NamedTuple):
    """What this installation knows about the person.

    `linked` is the user who is linked with the person's account at the provider. `same_email` is the user with the
    person's e-mail address. `has_other_account` is True if `same_email` is linked with an account of this
    provider.
    """

    linked: User | None = None
    same_email: User | None = None
    has_other_account: bool = False
    companies: Mapping[str, int] | None = None
    """The ids of companies, by code."""


class Decision(NamedTuple):
    """The decision whether a person may sign in, and as which user.

    If there is a `refusal`, the person may not sign in. Otherwise the person signs in as the existing `user`, or
    as a new user if `user` is None. `why` is a sentence that says how the user was found.
    """

    person: Person
    judged: Sequence[tuple[Rule, str]]
    """All rules of the provider, each with its effect in words."""
    why: str
    refusal: Refusal | None = None
    user: User | None = None
    rights: Rights | None = None
    """The rights to give to the user now, or None if the user's rights do not change."""
    is_linked: bool = False
    """Whether the user is already linked with the account at the provider."""

    @property
    def is_new(self) -> bool:
        return self.refusal is None and self.user is None

    @property
    def changes(self) -> bool:
        """Whether wmsd must create, change or link the user before the user can sign in."""
        return self.user is None or self.rights is not None or not self.is_linked


def claim_value(claims: Mapping[str, Any], name: str) -> Any:
    """Return the claim with this name. If there is none, read the name as a path: `realm.roles` means the key
    `roles` in the object `realm`. Return None if this finds nothing either.
    """
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def names_read(provider: Provider) -> set[str]:
    """Return the names of all claims that the rules and settings of this provider use."""
    return {provider.email_claim, provider.name_claim, *(rule.claim for rule in provider.rules)}


def person_of(provider: Provider, claims: Mapping[str, Any]) -> Person:
    email, doubt = _email(provider, claims)
    name = claim_value(claims, provider.name_claim)
    shown = " ".join(name.split())[:LONGEST_NAME] if isinstance(name, str) and name.isprintable() else ""
    return Person(str(claims.get("sub", "")), email, doubt, shown)


def _email(provider: Provider, claims: Mapping[str, Any]) -> tuple[str | None, str | None]:
    value = claim_value(claims, provider.email_claim)
    if not isinstance(value, str) or not value:
        return None, f"{provider.called} sent no e-mail address (claim {provider.email_claim})"
    email = _mailbox(value)
    if email is None:
        return None, "the e-mail address is not valid for users of this installation"
    speaks_of_it = provider.email_claim == "email"
    if not provider.trust_email and not (speaks_of_it and _is_verified(claims.get("email_verified"))):
        return None, f"{provider.called} does not confirm that the address {value} is verified"
    return email, None


def _mailbox(value: str) -> str | None:
    """Return the normalised e-mail address, or None if it is not valid.

    Also return None if normalisation turns letters before the @ into ASCII letters. For example, it turns the
    Kelvin sign into a `k`, so the result could be the address of another person.
    """
    try:
        email = check_mailbox(value)
    except ValueError:
        return None
    becomes_another = email.partition("@")[0].isascii() and not value.partition("@")[0].isascii()
    return None if becomes_another else email


def _is_verified(explained: object) -> bool:
    """Return True for the JSON value true, and for the text "true", which some providers send instead. Do not
    accept the number 1, although Python considers it equal to True.
    """
    return explained is True or explained == "true"


def judged(provider: Provider, claims: Mapping[str, Any]) -> tuple[Rule | None, list[str], list[tuple[Rule, str]]]:
    """Return three results: the first rule that matches (or None), the codes of the companies to give to the user,
    and all rules with their effects.

    A user has the same role and abilities in all companies. Therefore a later matching rule adds its companies
    only if it gives the same role and abilities as the first one. Otherwise the user would get the rights of one
    rule in the companies of another rule.
    """
    first: Rule | None = None
    codes: list[str] = []
    explained = []
    for rule in provider.rules:
        if not _fits(rule, claims):
            says = "does not match"
        elif first is None:
            first, says = rule, "is the first rule that applies: its role and abilities are used"
            codes += rule.companies
        elif (rule.role, set(rule.granted)) == (first.role, set(first.granted)):
            says = "matches: its companies are added"
            codes += rule.companies
        else:
            says = (
                "matches, but is not used: its role or its abilities differ from those of the first matching rule"
            )
        explained.append((rule, says))
    return first, list(dict.fromkeys(codes)), explained


def _fits(rule: Rule, claims: Mapping[str, Any]) -> bool:
    value = claim_value(claims, rule.claim)
    return rule.value in value if isinstance(value, list) else rule.value == value


def decide(provider: Provider, claims: Mapping[str, Any], known: Known) -> Decision:
    """Decide who may sign in with these claims, and give the reason."""
    person = person_of(provider, claims)
    rule, codes, explained = judged(provider, claims)
    user, why, refusal = _user(provider, person, known)
    rights = None
    if refusal is None and (user is None or provider.follow_rules):
        if rule is None:
            refusal = Refusal(
                "no rule matches this account", "Ask a platform admin which group your account must be in."
            )
        else:
            rights = _rights(rule, codes, known)
            rights = None if user is not None and rights == rights_of(user) else rights
    return Decision(person, explained, why, refusal, user, rights, known.linked is not None)


def _user(provider: Provider, person: Person, known: Known) -> tuple[User | None, str, Refusal | None]:
    """Find the user for the person. Return three results: the user (or None), a sentence that says how the user
    was found, and a refusal (or None).
    """
    if known.linked is not None:
        user, why = known.linked, f"This account is linked with the user {known.linked.email}."
    elif person.email is None:
        return None, "No user was found.", Refusal(person.doubt or "", NO_EMAIL)
    elif known.same_email is not None:
        user, why = known.same_email, f"The user {known.same_email.email} has this e-mail address."
        if known.has_other_account:
            return (
                user,
                why,
                Refusal(f"another account of the provider is linked with the user {user.email}", UNLINK),
            )
    else:
        because = f"no user has the e-mail address {person.email}"
        unknown = Refusal(because, "Ask a platform admin to create a user for you.")
        refusal = None if provider.create_users else unknown
        return None, f"{because[0].upper()}{because[1:]}.", refusal
    disabled = Refusal(f"the user {user.email} is disabled", "Ask a platform admin.")
    return user, why, disabled if user.disabled else None


def _rights(rule: Rule, codes: Sequence[str], known: Known) -> Rights:
    """Return the rights that `rule` gives in the companies with these `codes`. Ignore a code if no company of this
    installation has it.
    """
    ids = known.companies or {}
    return Rights(
        rule.role,
        frozenset(ids[code] for code in codes if code in ids),
        tuple(abilities_of_new_user(rule.role, rule.granted)),
    )


def rights_of(user: User) -> Rights:
    return Rights(user.role, user.company_ids, user.abilities)


def refusal_sentence(provider: Provider, decision: Decision) -> str:
    """Return the message for a person who may not sign in. It has the name of the person, the reason, and what to
    do.
    """
    assert decision.refusal is not None
    because, remedy = decision.refusal
    who = decision.person.called[:SHOWN]
    return f"{provider.called} says that you are {who}. You cannot sign in: {because}. {remedy}"
