"""Tests of `scripts/replay-month`: it turns invoices into orders by its rules, and reports them truthfully."""

import csv
import json
import lzma
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.forked import FIXED, ROOT
from wmsd.db.engine.sqlite import connect

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
FIRST = 120
DELIVERED = "LIVRAT"
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
    SELECT articles.code, stock.quantity / 1000000, reserved, quarantined / 1000000 FROM stock
    JOIN articles ON articles.id = article_id ORDER BY articles.code
"""
PURCHASES = """
    SELECT purchase_orders.external_ref, status, partners.code,
        json_group_array(json_array(articles.code, item.quantity / 1000000, item.received_quantity / 1000000)
            ORDER BY item.position)
    FROM purchase_orders
    JOIN partners ON partners.id = partner_id
    JOIN purchase_order_items AS item ON item.purchase_order_id = purchase_orders.id
    JOIN articles ON articles.id = item.article_id
    GROUP BY purchase_orders.id ORDER BY purchase_orders.external_ref
"""
RECEPTIONS = """
    SELECT receptions.external_ref, status,
        json_group_array(json_array(articles.code, item.quantity_um3pl / 1000000, item.quantity / 1000000,
            item.lot_number, json(item.serial_data)) ORDER BY item.position)
    FROM receptions
    JOIN reception_items AS item ON item.reception_id = receptions.id
    JOIN purchase_order_items AS ordered ON ordered.id = item.po_item_id
    JOIN articles ON articles.id = ordered.article_id
    GROUP BY receptions.id ORDER BY receptions.external_ref
"""
RETURNS = """
    SELECT returns.external_ref, returns.status, sales_orders.external_ref, partners.code,
        json_group_array(json_array(articles.code, line.quantity / 1000000, line.disposition, line.lot_number,
            json(line.serials)) ORDER BY line.position)
    FROM returns
    JOIN partners ON partners.id = returns.partner_id
    JOIN return_lines AS line ON line.return_id = returns.id
    JOIN articles ON articles.id = line.article_id
    LEFT JOIN sales_orders ON sales_orders.id = returns.sales_order_id
    GROUP BY returns.id ORDER BY returns.external_ref
"""
LOTS = """
    SELECT articles.code, lot_number, stock_lots.quantity / 1000000 FROM stock_lots
    JOIN stock ON stock.id = stock_id JOIN articles ON articles.id = article_id
    WHERE stock_lots.quantity > 0 ORDER BY articles.code, lot_number
"""
SERIALS = "SELECT serial FROM stock_serials ORDER BY serial"
Line = tuple[str, int]
Row = tuple[str, str, int, str, float, str]
"""A row: invoice, stock code, quantity, customer, price and day."""


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


def documents(folder: Path, sql: str) -> list[Any]:
    """Return each document as its fields, starting with the reference, and its lines."""
    return [(*fields, json.loads(lines)) for *fields, lines in query(folder, sql)]


def test_each_rule(tmp_path: Path) -> None:
    early, later, late = (f"2010-12-01 {hour}:26:00" for hour in ("08", "09", "10"))
    rows = [
        ("1001", "22074", 120, "17850.0", 2.5, early),
        ("1001", "POST", 1, "17850.0", 18.0, early),
        ("1001", "22074", 40, "17850.0", 2.5, early),
        ("1001", "22000", 6, "17850.0", 2.5, early),
        ("1002", "71053", 3, "", 3.5, early),
        ("1004", "22074", 40, "17850.0", 2.5, later),
        ("1004", "22034", 22, "17850.0", 9.0, later),
        ("1005", "DCGS0076", 1, "17850.0", 9.0, later),
        ("1005", "22000", 4, "17850.0", 2.5, later),
        ("C1009", "DCGS0076", -1, "17850.0", 9.0, later),  # order 1005 is not earlier
        ("C1003", "71053", -3, "", 3.5, late),  # the customer is unknown
        ("C1006", "22000", -7, "17850.0", 2.5, late),  # 4 of order 1005, 3 of order 1001
        ("C1007", "22000", -5, "17850.0", 2.5, late),  # 3 of order 1001, and 2 too many
        ("C1007", "22034", -2, "17850.0", 9.0, late),  # of order 1004
        ("C1013", "22034", -2, "12583.0", 9.0, late),  # the order of another customer
        ("1008", "71053", -5, "", 0.0, late),
        ("1014", "71053", 5, "", 0.0, late),
        ("1010", "POST", 1, "12583.0", 18.0, late),
        ("C1011", "M", -1, "12583.0", 5.0, late),
    ]
    folder = tmp_path / "kept"
    done = replay(month(tmp_path / "month.csv.xz", rows), folder)
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    assert [line.split()[:-2] for line in said[1:5]] == [
        ["purchase", "orders", "3", "5", "3"],
        ["receptions", "9", "17", "22"],
        ["sales", "orders", "4", "8", "16"],
        ["returns", "8", "8", "24"],
    ]
    assert said[5:-1] == [
        "Over 8 connections. 236 pieces sold; 4 returns of orders, 4 free.",
        "Left out:",
        "  3 lines that are no goods: POST 2, M 1",
        "  2 invoices and credit notes that have no other lines",
        "  2 invoices that correct the stock",
    ]
    assert said[-1].startswith("Checked: ")
    assert said[-1].endswith(" records match the source, and wmsd doctor finds no problems.")
    check_purchases(folder)
    assert documents(folder, ORDERS) == [
        ("1001", DELIVERED, "17850", [["22074", 120], ["22074", 40], ["22000", 6]]),
        ("1002", DELIVERED, "WALK-IN", [["71053", 3]]),
        ("1004", DELIVERED, "17850", [["22074", 40], ["22034", 22]]),
        ("1005", DELIVERED, "17850", [["DCGS0076", 1], ["22000", 4]]),
    ]
    check_returns(folder)
    assert query(folder, STOCK) == [
        ("22000", 6, 0, 3),
        ("22034", 5, 0, 2),
        ("22074", 10, 0, 0),
        ("71053", 3, 0, 3),
        ("DCGS0076", 1, 0, 0),
    ]
    assert query(folder, LOTS) == [("22074", "SUPPLIER-22-1-REST/2", 10), ("71053", "C1003", 3)]
    assert query(folder, SERIALS) == [("22034-23",), ("C1013-1",), ("C1013-2",)]


def check_purchases(folder: Path) -> None:
    """Check the purchases.

    Half of the largest order did not come. 22074 is ordered in boxes of 10, and a tenth more of it comes.
    """
    first, rest, odd, single = "SUPPLIER-22-1", "SUPPLIER-22-1-REST", "SUPPLIER-71-1", "SUPPLIER-DC-1"
    assert documents(folder, PURCHASES) == [
        (first, "RECEPTIONAT", "SUPPLIER-22", [["22000", 10, 5], ["22034", 22, 11], ["22074", 200, 100]]),
        (rest, "RECEPTIONAT", "SUPPLIER-22", [["22000", 5, 5], ["22034", 11, 12], ["22074", 100, 110]]),
        (odd, "RECEPTIONAT", "SUPPLIER-71", [["71053", 3, 3]]),
        (single, "RECEPTIONAT", "SUPPLIER-DC", [["DCGS0076", 1, 1]]),
    ]

    def arrived(ref: str, plain: int, numbers: range, boxes: int) -> list[Any]:
        serials = [f"22034-{number}" for number in numbers]
        return [
            ["22000", plain, plain, None, None],
            ["22034", len(numbers), len(numbers), None, serials],
            ["22074", boxes, 10 * boxes, ref, None],
        ]

    draft = [[code, units, None, *names] for code, units, _, *names in arrived(f"{first}/1", 5, range(1, 12), 10)]
    assert documents(folder, RECEPTIONS) == [
        (f"{rest}/1", "FINALIZAT", arrived(f"{rest}/1", 2, range(12, 17), 5)),
        (f"{rest}/2", "FINALIZAT", arrived(f"{rest}/2", 3, range(17, 24), 6)),
        (f"{first}/1", "FINALIZAT", arrived(f"{first}/1", 5, range(1, 12), 10)),
        (f"{first}/CANCELLED", "ANULAT", draft),
        *((f"{odd}/{number}", "FINALIZAT", [["71053", 1, 1, f"{odd}/{number}", None]]) for number in (1, 2, 3)),
        (f"{single}/1", "FINALIZAT", [["DCGS0076", 1, 1, None, None]]),
    ]


def check_returns(folder: Path) -> None:
    assert documents(folder, RETURNS) == [
        ("C1003", "FINALIZAT", None, "WALK-IN", [["71053", 3, "CARANTINA", "C1003", None]]),
        ("C1006/1001", "FINALIZAT", "1001", "17850", [["22000", 3, "RESTOC", None, None]]),
        ("C1006/1005", "FINALIZAT", "1005", "17850", [["22000", 4, "DISTRUS", None, None]]),
        ("C1007", "FINALIZAT", None, "17850", [["22000", 2, "DISTRUS", None, None]]),
        ("C1007/1001", "FINALIZAT", "1001", "17850", [["22000", 3, "CARANTINA", None, None]]),
        ("C1007/1004", "FINALIZAT", "1004", "17850", [["22034", 2, "RESTOC", None, None]]),
        ("C1009", "FINALIZAT", None, "17850", [["DCGS0076", 1, "RESTOC", None, None]]),
        ("C1013", "FINALIZAT", None, "12583", [["22034", 2, "CARANTINA", None, ["C1013-1", "C1013-2"]]]),
    ]


def test_a_document_that_is_refused_is_told(tmp_path: Path) -> None:
    rows = [("1001", "85123A", 10**12, "17850.0", 2.5, "2010-12-01 08:26:00")]
    done = replay(month(tmp_path / "month.csv.xz", rows), tmp_path / "kept")
    assert (done.returncode, done.stdout) == (1, "")
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("replay-month: POST /api/purchase-orders for SUPPLIER-85-1 was answered 422: ")
    assert "items.0.quantity" in sentence


@pytest.mark.skipif(not SOURCE.exists(), reason=f"{SOURCE.name} is not beside the checkout")
def test_the_month_begins_as_it_did(tmp_path: Path) -> None:
    """The month starts as recorded. The sums are computed from its lines alone."""
    done = replay(SOURCE, tmp_path, "--orders", str(FIRST))
    assert (done.returncode, done.stderr) == (0, "")
    sold: dict[str, list[Any]] = {}
    returned: list[tuple[str, int]] = []
    with lzma.open(SOURCE, "rt", encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            number, code, quantity = line["InvoiceNo"], line["StockCode"], int(line["Quantity"])
            if not code[:5].isdigit() or not float(line["UnitPrice"]):
                continue
            if number.startswith("C"):
                returned.append((code, -quantity))
            elif number in sold or len(sold) < FIRST:
                sold.setdefault(number, []).append([code, quantity])
            else:
                break
    found = [(number, status, lines) for number, status, _, lines in documents(tmp_path, ORDERS)]
    assert found == [(number, DELIVERED, lines) for number, lines in sold.items()]
    check_sums(tmp_path, [(code, quantity) for lines in sold.values() for code, quantity in lines], returned)


def check_sums(folder: Path, sold: list[Line], returned: list[Line]) -> None:
    """Check the sums: what is sold of each article is ordered.

    What was left over or returned, and not destroyed, is in stock.
    """
    ordered, left, came_back, quarantined = (Counter[str]() for _ in range(4))
    for ref, status, _, lines in documents(folder, PURCHASES):
        assert status == "RECEPTIONAT"
        for code, wanted, received in lines:
            ordered[code] += wanted * (not ref.endswith("REST"))
            left[code] += received
    assert ordered == total(sold)
    left.subtract(total(sold))
    assert all(0 <= left[code] <= ordered[code] // 10 for code in ordered)
    for _, status, _, _, lines in documents(folder, RETURNS):
        assert status == "FINALIZAT"
        for code, quantity, disposition, *_ in lines:
            came_back[code] += quantity
            left[code] += quantity * (disposition != "DISTRUS")
            quarantined[code] += quantity * (disposition == "CARANTINA")
    assert came_back == total(returned)
    assert query(folder, STOCK) == [(code, left[code], 0, quarantined[code]) for code in sorted(left)]


def total(lines: list[Line]) -> Counter[str]:
    """Return the number of pieces by stock code."""
    sums: Counter[str] = Counter()
    for code, quantity in lines:
        sums[code] += quantity
    return sums


def test_a_difference_is_told_by_record() -> None:
    script = """
from replay.records import differences
expected = {"Stock of A": [(5, 0, 0, 5)], "Stock of B": [(1, 0, 0, 1)], "Order 1": ["X"], "Order 2": ["Y"]}
found = {"Stock of A": [(6, 0, 0, 6)], "Stock of C": [(2, 0, 0, 2)], "Order 1": ["X", "X"], "Order 2": ["Y"]}
print(*differences(expected, found), sep="\\n")
"""
    environment = {**FIXED, "PYTHONPATH": str(ROOT / "scripts")}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert (done.stderr, done.stdout.splitlines()) == (
        "",
        [
            "Order 1: expected X, found X and X.",
            "Stock of A: expected (5, 0, 0, 5), found (6, 0, 0, 6).",
            "Stock of B: expected (1, 0, 0, 1), found nothing.",
            "Stock of C: expected nothing, found (2, 0, 0, 2).",
        ],
    )
