"""`scripts/replay-month`: invoices become orders by its rules, and what it says of them is so."""

import csv
import json
import lzma
import subprocess
from collections import Counter
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import FIXED, ROOT
from wmsd.db.sqlite import connect

SOURCE = ROOT.parent / "shared" / "data" / "online-retail-2010-12.csv.xz"
COLUMNS = (
    "InvoiceNo",
    "StockCode",
    "Quantity",
    "CustomerID",
    "UnitPrice",
    "InvoiceDate",
    "Description",
    "Country",
)
FIRST = 60
DELIVERED, CANCELLED = "LIVRAT", "ANULAT"
ORDERS = """
    SELECT sales_orders.external_ref, status, partners.code,
        json_group_array(json_array(articles.code, line.quantity / 1000000) ORDER BY line.position)
    FROM sales_orders
    JOIN partners ON partners.id = partner_id
    JOIN sales_order_lines AS line ON line.sales_order_id = sales_orders.id
    JOIN articles ON articles.id = line.article_id
    GROUP BY sales_orders.id ORDER BY sales_orders.external_ref
"""
STOCK = """
    SELECT articles.code, stock.quantity / 1000000, reserved FROM stock
    JOIN articles ON articles.id = article_id ORDER BY articles.code
"""
Row = tuple[str, str, int, str, float, str]
"""Invoice, stock code, quantity, customer, price and day."""


def replay(source: Path, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command: list[str | Path] = [ROOT / "scripts" / "replay-month", source, "--keep", folder, *arguments]
    return subprocess.run(command, env=FIXED, capture_output=True, text=True, timeout=120)


def month(path: Path, rows: Sequence[Row]) -> Path:
    with lzma.open(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows((*row, f"Article {row[1]}", "Romania") for row in rows)
    return path


def query(folder: Path, sql: str) -> list[Any]:
    connection = connect(folder / "data" / "companies" / "1.db", read_only=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def orders(folder: Path) -> list[Any]:
    """External reference, status, partner, and lines of code and pieces."""
    return [(*order, json.loads(lines)) for *order, lines in query(folder, ORDERS)]


def test_each_rule(tmp_path: Path) -> None:
    day, next_day = "2010-12-01 08:26:00", "2010-12-02 08:26:00"
    rows = [
        ("1001", "85123A", 6, "17850.0", 2.5, day),
        ("1001", "POST", 1, "17850.0", 18.0, day),
        ("1001", "85123A", 2, "17850.0", 2.5, day),
        ("1002", "71053", 3, "", 3.5, day),
        ("C1003", "71053", -3, "", 3.5, day),  # whoever that was
        ("1004", "85123A", 4, "17850.0", 2.5, day),
        ("1004", "DCGS0076", 1, "17850.0", 9.0, day),
        ("1005", "DCGS0076", 1, "17850.0", 9.0, day),
        ("1005", "85123A", 4, "17850.0", 2.5, day),
        ("C1006", "85123A", -4, "17850.0", 2.5, day),
        ("C1006", "DCGS0076", -1, "17850.0", 9.0, day),  # 1005
        ("C1007", "85123A", -2, "17850.0", 2.5, day),  # a part
        ("1008", "71053", -5, "", 0.0, day),
        ("1009", "71053", 5, "", 0.0, day),
        ("1010", "POST", 1, "12583.0", 18.0, day),
        ("C1011", "M", -1, "12583.0", 5.0, day),
        ("C1012", "85123A", -4, "17850.0", 2.5, next_day),
        ("C1012", "DCGS0076", -1, "17850.0", 9.0, next_day),  # 1004, too late
    ]
    folder = tmp_path / "kept"
    done = replay(month(tmp_path / "month.csv.xz", rows), folder)
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    assert said[0].startswith("4 orders, 7 lines, 15 requests over 8 connections in ")
    assert said[2:] == [
        "3 delivered, 16 pieces; 1 cancelled",
        "Left out:",
        "  3 lines that are no goods: POST 2, M 1",
        "  2 invoices and credit notes that have no other lines",
        "  2 invoices that correct the stock",
        "  3 credit notes with 4 lines, kept in returns.csv",
        "Checked: every order is there exactly once, every ledger sum holds, stock fell by what was shipped.",
    ]
    assert orders(folder) == [
        ("1001", DELIVERED, "17850", [["85123A", 6], ["85123A", 2]]),
        ("1002", DELIVERED, "WALK-IN", [["71053", 3]]),
        ("1004", DELIVERED, "17850", [["85123A", 4], ["DCGS0076", 1]]),
        ("1005", CANCELLED, "17850", [["DCGS0076", 1], ["85123A", 4]]),
    ]
    opening = {code: 20 if code == "85123A" else 10 for code in ("71053", "85123A", "DCGS0076", "M", "POST")}
    shipped = Counter({"71053": 3, "85123A": 12, "DCGS0076": 1})
    assert query(folder, STOCK) == [(code, opening[code] - shipped[code], 0) for code in sorted(opening)]
    assert (folder / "returns.csv").read_text(encoding="utf-8").splitlines() == [
        "external_ref,day,partner_code,article_code,quantity",
        "C1003,2010-12-01,WALK-IN,71053,3",
        "C1007,2010-12-01,17850,85123A,2",
        "C1012,2010-12-02,17850,85123A,4",
        "C1012,2010-12-02,17850,DCGS0076,1",
    ]


def test_an_order_that_is_refused_is_told(tmp_path: Path) -> None:
    rows = [("1001", "85123A", 0, "17850.0", 2.5, "2010-12-01 08:26:00")]
    done = replay(month(tmp_path / "month.csv.xz", rows), tmp_path / "kept")
    assert (done.returncode, done.stdout) == (1, "")
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("replay-month: POST /api/v2/sales-orders for 1001-CREAT was answered 422: ")
    assert "lines.0.quantity" in sentence


@pytest.mark.skipif(not SOURCE.exists(), reason=f"{SOURCE.name} is not beside the checkout")
def test_the_month_begins_as_it_did(tmp_path: Path) -> None:
    done = replay(SOURCE, tmp_path, "--orders", str(FIRST))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{FIRST} orders, ")
    sold: dict[str, list[Any]] = {}
    with lzma.open(SOURCE, "rt", encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            if line["InvoiceNo"].isdigit() and line["StockCode"][:5].isdigit() and float(line["UnitPrice"]):
                sold.setdefault(line["InvoiceNo"], []).append([line["StockCode"], int(line["Quantity"])])
    first = dict(islice(sold.items(), FIRST))
    found = [(number, status, lines) for number, status, _, lines in orders(tmp_path)]
    assert found == [(number, DELIVERED, lines) for number, lines in first.items()]
    shipped: Counter[str] = Counter()
    for code, quantity in chain.from_iterable(first.values()):
        shipped[code] += quantity
    with (tmp_path / "stock.csv").open(encoding="utf-8", newline="") as file:
        opening = {row["article_code"]: int(row["quantity"]) for row in csv.DictReader(file)}
    assert query(tmp_path, STOCK) == [(code, opening[code] - shipped[code], 0) for code in sorted(opening)]
