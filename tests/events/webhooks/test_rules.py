"""Tests of what the result of sending means, and of what a subscription needs."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from wmsd.base import timestamps
from wmsd.contract.context import Company, Operator
from wmsd.events.webhooks.rules import (
    Verdict,
    credentials,
    failing_milliseconds,
    is_short,
    off_because,
    verdict_of_attempt,
)
from wmsd.events.webhooks.schema import RECOMMENDED_SECRET, AuthType

MINUTE, DAY = 60_000, 86_400_000
COMPANY = Company(1, "ACME", "Acme", modules=frozenset({"api", "webhooks", "stock"}))
SANDBOX = "The company is a sandbox, and webhooks are not switched on for the sandboxes of its operator."


@pytest.mark.parametrize(
    ("modules", "because"),
    [
        ({"api"}, "The module webhooks is off."),
        ({"webhooks"}, "The module api is off."),
        (set(), "The modules api and webhooks are off."),
        ({"stock"}, "The modules api and webhooks are off."),
    ],
)
def test_nothing_is_sent_without_the_modules_and_the_one_that_was_off_is_named(
    modules: set[str], because: str
) -> None:
    assert off_because(replace(COMPANY, modules=frozenset(modules))) == because


def test_a_sandbox_sends_where_its_operator_allows_it() -> None:
    operator = Operator(1, "3PL", "3PL", sandbox=True)
    allows = replace(operator, sandbox_webhooks=True)
    assert off_because(COMPANY) is None
    assert off_because(replace(COMPANY, modules=frozenset({"api", "webhooks"}))) is None
    assert off_because(replace(COMPANY, operator=operator)) is None
    assert off_because(replace(COMPANY, sandbox=True)) == SANDBOX
    assert off_because(replace(COMPANY, sandbox=True, operator=operator)) == SANDBOX
    assert off_because(replace(COMPANY, sandbox=True, operator=allows)) is None


def test_a_delivery_is_tried_five_times_with_longer_and_longer_waits() -> None:
    assert [verdict_of_attempt(False, left) for left in (4, 3, 2, 1, 0)] == [
        Verdict("pending", MINUTE // 2),
        Verdict("pending", 2 * MINUTE),
        Verdict("pending", 8 * MINUTE),
        Verdict("pending", 32 * MINUTE),
        Verdict("exhausted", None),
    ]
    assert {verdict_of_attempt(True, left) for left in range(5)} == {Verdict("delivered", None)}


@pytest.mark.parametrize(
    ("since", "counts"),
    [(-1, 0), (0, 0), (1, 1), (DAY - 1, DAY - 1), (DAY, DAY), (DAY + 1, DAY), (365 * DAY, DAY)],
)
def test_a_clock_that_leaps_counts_for_a_day_at_most(since: int, counts: int) -> None:
    until = datetime(2026, 11, 20, tzinfo=UTC)
    now = until + timedelta(milliseconds=since)
    assert failing_milliseconds(5, timestamps.to_text(until), timestamps.to_text(now)) == 5 + counts


@pytest.mark.parametrize(
    ("auth_type", "sent", "kept", "found", "errors"),
    [
        ("hmac", {"secret": "s"}, None, {"secret": "s"}, {}),
        ("hmac", {"secret": "new"}, {"secret": "old"}, {"secret": "new"}, {}),
        ("hmac", {"secret": None}, {"secret": "old"}, {"secret": "old"}, {}),
        ("hmac", {}, None, {"secret": None}, {"secret": ["is required by auth_type hmac"]}),
        (
            "hmac",
            {"secret": "s", "token": "t", "password": "p", "username": None},
            None,
            {"secret": "s"},
            {
                "token": ["cannot be used with auth_type hmac, which needs secret"],
                "password": ["cannot be used with auth_type hmac, which needs secret"],
            },
        ),
        ("basic", {"username": "u"}, {"password": "p"}, {"username": "u", "password": "p"}, {}),
        (
            "basic",
            {"secret": "s"},
            {},
            {"username": None, "password": None},
            {
                "secret": ["cannot be used with auth_type basic, which needs username and password"],
                "username": ["is required by auth_type basic"],
                "password": ["is required by auth_type basic"],
            },
        ),
    ],
)
def test_each_way_of_authentication_has_its_own_credentials(
    auth_type: AuthType,
    sent: dict[str, Any],
    kept: dict[str, Any] | None,
    found: dict[str, Any],
    errors: dict[str, list[str]],
) -> None:
    assert credentials(auth_type, sent, kept) == (found, errors)


def test_a_secret_may_be_short_and_is_told_so() -> None:
    assert is_short({"secret": "x" * (RECOMMENDED_SECRET - 1)})
    assert not is_short({"secret": "x" * RECOMMENDED_SECRET})
    assert not is_short({"token": "x"})
