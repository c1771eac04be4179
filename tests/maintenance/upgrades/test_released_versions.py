"""The files of each released version are migrated without loss, and continue to work."""

import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Home
from wmsd import __version__
from wmsd.db.migrations import COMPANY, PLATFORM, version_of

RELEASED = Path(__file__).parents[2] / "released"
ARCHIVES = sorted(RELEASED.glob("wmsd-*.tar.gz"))
FILES = {"platform.db": PLATFORM, "companies/1.db": COMPANY}
DROPPED = frozenset({"webhook_delivery_counts"})
"""The tables that a migration has dropped, because their values follow from other tables."""


def rows(file: Path) -> dict[str, int]:
    """Return the number of rows of each table."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
        return {
            name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
            for (name,) in connection.execute(tables).fetchall()
            if not name.startswith("sqlite_")
        }


def stock(file: Path) -> list[Any]:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT article_id, warehouse_id, quantity FROM stock ORDER BY 1, 2").fetchall()


@pytest.fixture(params=ARCHIVES, ids=lambda archive: archive.name)
def released(request: pytest.FixtureRequest, home: Home) -> Home:
    with tarfile.open(request.param) as archive:
        archive.extractall(home.data, filter="data")
    return home


def test_nothing_is_lost_and_work_goes_on(released: Home) -> None:
    before = {name: rows(released.data / name) for name in FILES}
    balances = stock(released.data / "companies" / "1.db")
    assert before["companies/1.db"]["sales_orders"] == 5
    with released.serving() as server:
        token = released.ok("token", "create", "--user", "demo@example.com", "--ability", "*").out.strip()
        assert all(report["ok"] for report in released.ok("doctor", "--json").json)
        orders = server.get("/api/sales-orders", token)[1]["data"]
        assert sorted(order["status"] for order in orders) == ["ANULAT", "CREAT", "INCARCAT", "IN_LUCRU", "LIVRAT"]
        loaded = next(order["id"] for order in orders if order["status"] == "IN_LUCRU")
        path = f"/api/v2/sales-orders/{loaded}/status"
        assert server.send("PATCH", path, {"status": "INCARCAT"}, token)[0] == 200
        line = {"article_id": orders[0]["lines"][0]["article_id"], "quantity": 1}
        body = {"partner_id": orders[0]["partner_id"], "warehouse_id": orders[0]["warehouse_id"], "lines": [line]}
        assert server.send("POST", "/api/sales-orders", body, token)[0] == 201
        assert all(report["ok"] for report in released.ok("doctor", "--json").json)
        server.stop()
    for name, kind in FILES.items():
        after = rows(released.data / name)
        assert version_of(released.data / name) == len(kind.scripts())
        lost = {
            table: (was, after.get(table))
            for table, was in before[name].items()
            if after.get(table, -1) < was and table not in DROPPED
        }
        assert lost == {}
        copy = released.data / f"before-{__version__}" / name
        if copy.exists():
            assert rows(copy) == before[name]
    kept = released.data / f"before-{__version__}" / "companies" / "1.db"
    assert not kept.exists() or stock(kept) == balances
