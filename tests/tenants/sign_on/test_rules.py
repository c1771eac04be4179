"""The decision that follows from the claims of a user."""

from typing import Any

import pytest

from wmsd.contract.access import WAREHOUSE, Role
from wmsd.tenants.accounts.rules import User
from wmsd.tenants.sign_on.providers import Provider
from wmsd.tenants.sign_on.rules import Known, claim_value, decide

COMPANIES = {"ACME": 1, "GLOBEX": 2, "INITECH": 3}
CLAIMS: dict[str, Any] = {"sub": "1", "email": "Ana@Example.com", "email_verified": True, "name": "Ana  Pop"}


def provider(*rules: dict[str, Any], **more: Any) -> Provider:
    base = {"name": "company", "issuer": "https://login.example.com", "client_id": "wmsd"}
    return Provider.model_validate(
        {**base, **({"create_users": True} if rules else {}), **more, "rules": list(rules)}
    )


def rule(value: str, *companies: str, role: Role = "member", abilities: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "claim": "groups",
        "value": value,
        "role": role,
        "companies": list(companies),
        "abilities": list(abilities),
    }


def user(role: Role = "member", disabled: bool = False) -> User:
    return User(7, "ana@example.com", "Ana", role, "hash", ("stock:read",), frozenset({1}), disabled)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("groups", ["a"]),
        ("realm_access.roles", ["b"]),
        ("https://example.com/roles", ["c"]),
        ("groups.0", None),
        ("realm_access.nothing", None),
        ("nothing.at.all", None),
    ],
)
def test_a_claim_by_its_name_or_by_its_dots(name: str, found: object) -> None:
    claims = {"groups": ["a"], "realm_access": {"roles": ["b"]}, "https://example.com/roles": ["c"]}
    assert claim_value(claims, name) == found


def test_a_rule_gives_a_set_as_its_abilities() -> None:
    rules = (
        rule("acme", "ACME", abilities=("warehouse", "articles:write")),
        rule("globex", "GLOBEX", abilities=(*sorted(WAREHOUSE.abilities), "articles:write")),
    )
    claims = {**CLAIMS, "groups": ["acme", "globex"]}
    found = decide(provider(*rules), claims, Known(companies=COMPANIES)).rights
    assert found is not None
    assert set(found.abilities) == WAREHOUSE.abilities | {"articles:write"}
    assert found.company_ids == {1, 2}, "the same abilities, however they are named"


def test_the_first_rule_that_fits_decides_and_equal_ones_add_their_companies() -> None:
    """Rights that one rule grants in a company never apply to the company of another rule."""
    rules = (
        rule("acme", "ACME", abilities=("stock:read",)),
        rule("globex", "GLOBEX", abilities=("stock:read",)),
        rule("initech", "INITECH", role="company-admin"),
        rule("writers", "INITECH", abilities=("stock:read", "articles:write")),
        rule("others", "INITECH"),
    )
    claims = {**CLAIMS, "groups": ["initech", "globex", "acme", "writers"]}
    decision = decide(provider(*rules), claims, Known(companies=COMPANIES))
    assert decision.rights is not None
    assert (decision.rights.role, decision.rights.abilities) == ("member", ("stock:read",))
    assert decision.rights.company_ids == {1, 2}
    assert [says for _, says in decision.judged] == [
        "is the first rule that applies: its role and abilities are used",
        "matches: its companies are added",
        "matches, but is not used: its role or its abilities differ from those of the first matching rule",
        "matches, but is not used: its role or its abilities differ from those of the first matching rule",
        "does not match",
    ]


def test_companies_that_are_not_here_are_left_out() -> None:
    decision = decide(provider(rule("a", "ACME", "GONE")), {**CLAIMS, "groups": "a"}, Known(companies={"ACME": 1}))
    assert decision.rights is not None
    assert decision.rights.company_ids == {1}


def test_who_is_new_is_called_as_the_provider_says() -> None:
    decision = decide(provider(rule("a")), {**CLAIMS, "groups": ["a"]}, Known())
    assert (decision.person.email, decision.person.name) == ("ana@example.com", "Ana Pop")
    assert (decision.is_new, decision.changes) == (True, True)


@pytest.mark.parametrize("name", [None, 7, "", "a\x00b", "\u202eanA", ["Ana"], "x" * 300])
def test_a_name_that_is_none_is_left_out(name: object) -> None:
    found = decide(provider(), {**CLAIMS, "name": name}, Known()).person.name
    assert found in ("", "x" * 255)


@pytest.mark.parametrize("name", ["wms", "WMS-acme", "wms-acme ", "wms-acme-2"])
def test_a_value_fits_as_a_whole(name: str) -> None:
    decision = decide(provider(rule("wms-acme")), {**CLAIMS, "groups": [name]}, Known())
    assert decision.refusal is not None


def test_a_linked_user_needs_no_address() -> None:
    decision = decide(provider(), {"sub": "1"}, Known(linked=user()))
    assert (decision.refusal, decision.user, decision.changes) == (None, user(), False)


def test_the_link_comes_before_the_address() -> None:
    other = User(8, "other@example.com", "Other", "platform-admin", "hash", ("*",), frozenset(), False)
    decision = decide(provider(), CLAIMS, Known(linked=user(), same_email=other))
    assert decision.user == user()


def test_rights_that_are_the_same_change_nothing() -> None:
    same = provider(rule("a", "ACME", abilities=("stock:read",)), follow_rules=True)
    claims = {**CLAIMS, "groups": ["a"]}
    assert not decide(same, claims, Known(linked=user(), companies=COMPANIES)).changes
    assert decide(same, claims, Known(linked=user("company-admin"), companies=COMPANIES)).changes


def test_rules_for_new_users_are_not_for_others() -> None:
    only_new = provider(rule("a", role="platform-admin"))
    decision = decide(only_new, {**CLAIMS, "groups": ["a"]}, Known(same_email=user()))
    assert (decision.refusal, decision.rights) == (None, None)


@pytest.mark.parametrize("known", [Known(linked=user(disabled=True)), Known(same_email=user(disabled=True))])
def test_a_disabled_user_is_refused_whatever_the_rules_say(known: Known) -> None:
    follows = provider(rule("a", role="platform-admin"), follow_rules=True)
    decision = decide(follows, {**CLAIMS, "groups": ["a"]}, known)
    assert decision.refusal is not None
    assert decision.refusal.because == "the user ana@example.com is disabled"
