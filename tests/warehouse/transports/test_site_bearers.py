"""Whose bearer it is: pure, over what is kept of them."""

from datetime import UTC, datetime, timedelta

import pytest

from wmsd.contract.context import TransportSite
from wmsd.tenants.sites.rules import Key, caller_of, hash_of

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
AN_INSTANT = timedelta(microseconds=1)
SITE = TransportSite(5, "North", company_id=7, warehouse_id=2, warehouse_code="MAIN")
OTHER = TransportSite(6, "South", company_id=8, warehouse_id=1, warehouse_code="MAIN")
KEYS = [
    Key(hash_of("other"), OTHER),
    Key(hash_of("old"), SITE, NOON),
    Key(hash_of("new"), SITE),
]


def test_a_site_may_use_its_company_and_has_no_ability() -> None:
    caller = caller_of(KEYS, "new", NOON)
    assert caller is not None
    assert (caller.actor.name, caller.site) == ("site North", SITE)
    assert (caller.abilities, caller.company_ids) == (frozenset(), frozenset({7}))


@pytest.mark.parametrize("token", ["", "ne", "newer", "NEW", "\udcff", "\udcfe"])
def test_nobody_else_is_anybody(token: str) -> None:
    assert caller_of(KEYS, token, NOON) is None


def test_bytes_that_are_no_text_are_told_apart() -> None:
    assert hash_of("\udcff") != hash_of("\udcfe")


def test_the_one_before_holds_until_its_moment() -> None:
    caller = caller_of(KEYS, "old", NOON - AN_INSTANT)
    assert caller is not None
    assert caller.site == SITE
    assert caller_of(KEYS, "old", NOON) is None
    assert caller_of([*KEYS, Key(hash_of("old"), OTHER)], "old", NOON) is not None
