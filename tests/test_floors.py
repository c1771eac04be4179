"""Tests of the floors with which `scripts/bench` compares orders, receptions and imports: they write what wmsd
itself writes.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.import_waits import TABLES, write_bare
from benchmarks.orders_floor import committed, statements_of_orders
from benchmarks.receptions_floor import statements_of_receptions
from benchmarks.records import Statement
from benchmarks.site import Company, Installation
from tests.support.command import Home, Server, first_day
from tests.support.forked import Program
from wmsd.db.engine.sqlite import connect

GOODS = {
    "warehouses": "code,name\nMAIN,Main\n",
    "partners": "code,name,type\nC,Customer,CLIENT\nS,Supplier,FURNIZOR\n",
    "articles": "code,name,track_lot\nA,Alpha,false\nB,Beta,true\nC,Gamma,false\n",
    "stock": "article_code,warehouse_code,quantity\nA,MAIN,100\nC,MAIN,100\n",
}
A, B, C = 1, 2, 3
CUSTOMER, SUPPLIER = 1, 2
SEARCH = ("entries", "progress", "index", "index_data", "index_idx", "index_docsize")
LEFT_OUT = {
    "log": "one row that names the file's write-ahead log: a server writes it once for each log that it begins",
    **{f"search_{name}": "a job follows what was written, in its own time" for name in SEARCH},
}
"""Tables that no floor writes, each with its reason."""
IMPORTED = {
    "articles": "code,name\nX,Ex\nY,Why\n",
    "stock": "article_code,warehouse_code,quantity\nX,MAIN,100\nY,MAIN,100\n",
    "sales-orders": "code,partner_code,warehouse_code,article_code,quantity\nO,C,MAIN,X,1\nO,C,MAIN,Y,2\n",
}
LEFT_OUT_OF_IMPORTS = {
    "change_sequence": "its one row is written once",
    "event_counts": "a row for each kind of event",
    "imports": "one row, for the import",
    "import_rows": "a row for each table that is filled",
    "row_counts": "a row for each of those tables, which triggers count, and one for imports",
    "sqlite_sequence": "the last id of each of those tables",
    "article_search_data": "pages of the index of text, which a trigger fills: how many depends on its merges",
    "article_search_idx": "the same",
}
"""Tables that have only a few rows, however many records are imported. The floor of imports does
not write them.
"""
ONLY_CHANGED = {"sales-orders": {"stock": "what is reserved changes in rows that are there; the floor adds rows"}}
"""The tables that the floor leaves out in addition, by kind of import."""
Changed = dict[str, tuple[int, int]]
"""The numbers of removed and of new rows, by table. A changed row counts as both."""


@dataclass(frozen=True)
class Till:
    """A company with goods, and its server."""

    server: Server
    site: Installation
    scratch: Path

    def post(self, path: str, body: Mapping[str, Any], key: str | None = None) -> Any:
        status, answer = self.server.send("POST", path, body, key=key)
        assert status == 201, answer
        return answer

    def state(self, name: str) -> Path:
        """Return a copy of the company's file in its current state."""
        copy = self.scratch / f"{name}.db"
        self.site.copy(Company(1, "ACME", ""), copy)
        return copy


@pytest.fixture
def till(program: Program, tmp_path: Path) -> Iterator[Till]:
    home = first_day(Home(program, tmp_path))
    for kind, text in GOODS.items():
        home.ok("import", kind, "-", "--company", "ACME", stdin=text)
    with home.serving() as server:
        yield Till(server, Installation(home.data), tmp_path)


@contextmanager
def both(source: Path, target: Path) -> Iterator[tuple[Any, Any]]:
    with closing(connect(source)) as read, closing(connect(target)) as written:
        yield read, written


def rows_of(file: Path) -> dict[str, Counter[Any]]:
    """Return every row of every table, also of the tables that belong to SQLite and to its text indexes."""
    with closing(connect(file)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: Counter(connection.execute(f"SELECT * FROM {name}").fetchall()) for name in tables}


def changed(before: Path, after: Path) -> Changed:
    was, is_now = rows_of(before), rows_of(after)
    assert was.keys() == is_now.keys()
    found = {name: ((was[name] - rows).total(), (rows - was[name]).total()) for name, rows in is_now.items()}
    return {name: counts for name, counts in found.items() if counts != (0, 0) and name not in LEFT_OUT}


def changed_by_floor(
    before: Path, after: Path, statements: Callable[[Any, Any], list[list[Statement]]]
) -> Changed:
    """Return the changes that the floor makes in a copy of `before`."""
    floor = before.with_name("floor.db")
    floor.write_bytes(before.read_bytes())
    with both(after, floor) as (source, target):
        (document,) = statements(source, target)
        committed(target, [document], most_seconds=60)
    return changed(before, floor)


@pytest.mark.parametrize("kind", IMPORTED)
def test_the_floor_of_imports_writes_what_an_import_writes(kind: str, till: Till) -> None:
    for each, text in IMPORTED.items():
        before = till.state(f"before-{each}")
        (file := till.scratch / f"{each}.csv").write_text(text)
        till.site.wmsd("import", each, file, "--company", "ACME")
        if each == kind:
            break
    after = till.state("after")
    floor = till.scratch / "floor.db"
    floor.write_bytes(before.read_bytes())
    write_bare(floor, after, TABLES[kind])
    left_out = LEFT_OUT_OF_IMPORTS.keys() | ONLY_CHANGED.get(kind, {}).keys()
    ours, bare = (
        {name: counts for name, counts in changed(before, each).items() if name not in left_out}
        for each in (after, floor)
    )
    assert bare == ours
    assert ours.keys() >= {*TABLES[kind]}


def order(number: int) -> dict[str, Any]:
    lines = [{"article_id": article, "quantity": number + 1} for article in (A, C)]
    return {"partner_id": CUSTOMER, "warehouse_id": 1, "lines": lines}


def test_the_floor_of_orders_writes_what_an_order_writes(till: Till) -> None:
    till.post("/api/v2/sales-orders", order(0), key="first")
    before = till.state("before")
    till.post("/api/v2/sales-orders", order(1), key="second")
    after = till.state("after")
    ours = changed(before, after)
    assert ours["sales_orders"] == (0, 1)
    assert ours["sales_order_lines"] == (0, 2)
    floor = changed_by_floor(before, after, lambda source, _: statements_of_orders(source, 1))
    assert floor == ours


def draft(till: Till) -> int:
    quantities = {A: 3, B: 4, C: 5}
    items = [{"article_id": article, "quantity": quantity} for article, quantity in quantities.items()]
    ordered = till.post("/api/purchase-orders", {"partner_id": SUPPLIER, "warehouse_id": 1, "items": items})
    arrived = [
        {"po_item_id": item["id"], "quantity_um3pl": item["quantity"]}
        | ({"lot_number": "L1"} if item["article_id"] == B else {})
        for item in ordered["items"]
    ]
    received = {"purchase_order_id": ordered["id"], "warehouse_id": 1, "selected_items": arrived}
    found: int = till.post("/api/receptions", received)["id"]
    return found


def receive(till: Till, reception: int) -> None:
    status, answer = till.server.send("PATCH", f"/api/receptions/{reception}", {"status": "FINALIZAT"})
    assert (status, answer["status"]) == (200, "FINALIZAT")


def test_the_floor_of_receptions_writes_what_a_reception_writes(till: Till) -> None:
    """The floor of receptions writes what a reception writes.

    One of its articles has lots and no stock record before.
    """
    reception = draft(till)
    before = till.state("before")
    receive(till, reception)
    after = till.state("after")
    ours = changed(before, after)
    assert ours["receptions"] == (1, 1)
    assert ours["stock_movements"] == (0, 3)
    floor = changed_by_floor(
        before, after, lambda source, target: statements_of_receptions(source, target, reception, reception)
    )
    assert floor == ours
