"""`wmsd billing`."""

import pytest

from tests.support.command import Home, Tenant
from wmsd.db.engine.sqlite import connect


@pytest.fixture
def billed(tenant: Tenant) -> Tenant:
    """Return a tenant that has events in two months."""
    tenant.take("articles", "code,name\nA,Alpha\nB,Beta\n")
    tenant.take("articles", "code,name\nA,Alpha plus\n")
    (company,) = [row for row in tenant.home.ok("company", "list", "--json").json if row["code"] == tenant.code]
    connection = connect(tenant.home.data / "companies" / f"{company['id']}.db")
    connection.execute("UPDATE event_counts SET month = '2031-02'")
    connection.execute(
        "INSERT INTO event_counts VALUES ('2026-10', 'stock.low', 1), ('2026-10', 'stock.updated', 4)"
    )
    connection.commit()
    connection.close()
    return tenant


def test_events_are_counted_by_month_and_name(billed: Tenant) -> None:
    assert billed.home.ok("billing", billed.code).out.splitlines() == [
        "month    event            count",
        "2026-10  stock.low        1",
        "2026-10  stock.updated    4",
        "2026-10  total            5",
        "2031-02  article.created  2",
        "2031-02  article.updated  1",
        "2031-02  total            3",
    ]
    october = {"month": "2026-10", "events": {"stock.low": 1, "stock.updated": 4}, "total": 5}
    february = {"month": "2031-02", "events": {"article.created": 2, "article.updated": 1}, "total": 3}
    found = billed.home.ok("billing", billed.code, "--json").json
    assert found == {"company": billed.code, "months": [october, february], "total": 8}
    found = billed.home.ok("billing", billed.code, "--json", "--month", "2026-10").json
    assert found == {"company": billed.code, "months": [october], "total": 5}


def test_no_events(tenant: Tenant) -> None:
    done = tenant.home.ok("billing", tenant.code)
    assert (done.out, done.err.splitlines()[-1]) == ("", f"{tenant.code} has no events yet.")
    done = tenant.home.ok("billing", tenant.code, "--month", "2026-10")
    assert (done.out, done.err.splitlines()[-1]) == ("", f"{tenant.code} has no events in 2026-10.")
    nothing = {"company": tenant.code, "months": [], "total": 0}
    assert tenant.home.ok("billing", tenant.code, "--json").json == nothing


@pytest.mark.parametrize("month", ["2026-13", "2026-1", "November", "2026-11-01", ""])
def test_a_month_that_is_none(shared: Home, month: str) -> None:
    sentence = "Error: Invalid value for '--month': must be a year and a month, such as 2026-11"
    assert shared.misunderstood("billing", "ACME", "--month", month) == sentence


def test_a_company_that_is_not_there(shared: Home) -> None:
    assert shared.refused("billing", "NOBODY") == "There is no such company as NOBODY."
