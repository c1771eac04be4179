"""The rights of a token never exceed its user's rights, and end at the exact time of expiry."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from wmsd.base.problems import Problem
from wmsd.contract.access import ABILITIES, EVERYTHING, READ_ABILITIES, Role
from wmsd.tenants.accounts.rules import Token, User, abilities_of_new_user, caller_of, check_abilities, grant

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
AN_INSTANT = timedelta(microseconds=1)
TOKEN = Token(
    id=3, name="scanner", abilities=(EVERYTHING,), company_ids=None, expires_at=NOON + AN_INSTANT, revoked=False
)
MEMBER = User(
    id=7,
    email="m@example.com",
    name="M",
    role="member",
    password_hash="",
    abilities=("articles:read", "stock:read"),
    company_ids=frozenset({1, 2}),
    disabled=False,
)


def test_it_says_who_acts_with_which_token_and_until_when() -> None:
    caller = caller_of(TOKEN, MEMBER, NOON)
    assert caller is not None
    assert (caller.actor.name, caller.actor.user_id, caller.actor.token_id) == ("m@example.com (scanner)", 7, 3)
    assert caller.expires_at == NOON + AN_INSTANT


def test_a_token_holds_until_the_very_moment_of_its_expiry() -> None:
    assert caller_of(TOKEN, MEMBER, NOON) is not None
    assert caller_of(TOKEN, MEMBER, NOON + AN_INSTANT) is None
    assert caller_of(TOKEN, MEMBER, NOON + 2 * AN_INSTANT) is None


def test_a_revoked_token_and_one_of_a_disabled_user_may_do_nothing() -> None:
    assert caller_of(replace(TOKEN, revoked=True), MEMBER, NOON) is None
    assert caller_of(TOKEN, replace(MEMBER, disabled=True), NOON) is None


@pytest.mark.parametrize(
    ("role", "of_token", "may_use"),
    [
        ("member", None, {1, 2}),
        ("member", {2}, {2}),
        ("member", {2, 3}, {2}),
        ("member", {3}, set()),
        ("company-admin", None, {1, 2}),
        ("company-admin", {2, 3}, {2}),
        ("platform-admin", None, None),
        ("platform-admin", {2, 3}, {2, 3}),
    ],
)
def test_the_companies_are_those_of_the_token_and_of_its_user(
    role: Role, of_token: set[int] | None, may_use: set[int] | None
) -> None:
    token = replace(TOKEN, company_ids=None if of_token is None else frozenset(of_token))
    caller = caller_of(token, replace(MEMBER, role=role), NOON)
    assert caller is not None
    assert caller.company_ids == may_use
    for company in (1, 2, 3, 4):
        assert caller.may_use(company) == (may_use is None or company in may_use)


def test_the_abilities_are_those_of_the_token_and_of_its_user() -> None:
    token = replace(TOKEN, abilities=("stock:read", "articles:write"))
    for user, abilities in (
        (MEMBER, {"stock:read"}),
        (replace(MEMBER, role="company-admin"), {"stock:read", "articles:write"}),
        (replace(MEMBER, role="platform-admin"), {"stock:read", "articles:write"}),
    ):
        caller = caller_of(token, user, NOON)
        assert caller is not None
        assert caller.abilities == abilities


def test_what_is_asked_for_is_given_once_and_in_its_order() -> None:
    asked = ["stock:read", "articles:read", "stock:read"]
    assert grant(MEMBER, asked) == ["stock:read", "articles:read"]
    assert grant(replace(MEMBER, role="company-admin"), [EVERYTHING]) == [EVERYTHING]


def test_nobody_gives_more_than_they_may_do() -> None:
    with pytest.raises(Problem) as refused:
        grant(MEMBER, ["returns:read", "articles:write", "stock:read"])
    assert (refused.value.code, refused.value.message) == (
        "FORBIDDEN",
        "A token of this user cannot have these abilities, because the user does not have them: "
        "articles:write, returns:read.",
    )


def test_what_is_no_ability_is_told_by_its_place() -> None:
    mistyped = {"abilities.1": ["is not an ability of this platform; the nearest is stock:read"]}
    assert check_abilities(["stock:read", "stock:eat", EVERYTHING]) == mistyped
    wrong = {"abilities.1": ["is not an ability of this platform"]}
    assert check_abilities(["stock:read", "articles:read"], {"stock:read"}) == wrong
    with pytest.raises(Problem) as refused:
        grant(MEMBER, ["stock:read", "articles:read"], {"stock:read"})
    assert (refused.value.status, refused.value.errors) == (422, wrong)


def test_a_new_member_may_read_and_an_admin_everything() -> None:
    assert abilities_of_new_user("member", ["stock:read", "articles:read", "stock:read"]) == [
        "stock:read",
        "articles:read",
    ]
    assert abilities_of_new_user("member", []) == sorted(READ_ABILITIES)
    for role in ("company-admin", "platform-admin"):
        assert abilities_of_new_user(role, ["stock:read"]) == [EVERYTHING]
    assert replace(MEMBER, role="company-admin").may_do == set(ABILITIES)
