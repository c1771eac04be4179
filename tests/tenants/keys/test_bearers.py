"""The search for the owner of a bearer token: pure functions over the stored tokens of sites."""

from datetime import UTC, datetime, timedelta

import pytest

from wmsd.contract.context import TransportSite
from wmsd.tenants.keys.bearers import Bearer, owner_of, secret_hash
from wmsd.tenants.sites.store import caller_of_site

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
AN_INSTANT = timedelta(microseconds=1)
SITE = TransportSite(5, "North", company_id=7, warehouse_id=2, warehouse_code="MAIN")
OTHER = TransportSite(6, "South", company_id=8, warehouse_id=1, warehouse_code="MAIN")
KEYS = [
    Bearer(secret_hash("other"), OTHER),
    Bearer(secret_hash("old"), SITE, NOON),
    Bearer(secret_hash("new"), SITE),
]


def test_a_site_may_use_its_company_and_has_no_ability() -> None:
    assert owner_of("new", KEYS, NOON) == SITE
    caller = caller_of_site(SITE)
    assert (caller.actor.name, caller.site) == ("site North", SITE)
    assert (caller.abilities, caller.company_ids) == (frozenset(), frozenset({7}))


@pytest.mark.parametrize("token", ["", "ne", "newer", "NEW", "\udcff", "\udcfe"])
def test_nobody_else_is_anybody(token: str) -> None:
    assert owner_of(token, KEYS, NOON) is None


def test_bytes_that_are_no_text_are_told_apart() -> None:
    assert secret_hash("\udcff") != secret_hash("\udcfe")


def test_the_one_before_holds_until_its_moment() -> None:
    assert owner_of("old", KEYS, NOON - AN_INSTANT) == SITE
    assert owner_of("old", KEYS, NOON) is None
    assert owner_of("old", [*KEYS, Bearer(secret_hash("old"), OTHER)], NOON) == OTHER
