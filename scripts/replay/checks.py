"""What must be true after the month, found out from outside: over HTTP, and in the company's file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from replay.invoices import Line, Month
from replay.shop import Shop, opening_stock
from wmsd.db.sqlite import connect

UNBALANCED: Final = """
    SELECT articles.code FROM stock
    JOIN articles ON articles.id = stock.article_id
    LEFT JOIN (
        SELECT stock_id, sum(quantity) AS quantity, sum(quarantined) AS quarantined
        FROM stock_movements GROUP BY stock_id
    ) AS ledger ON ledger.stock_id = stock.id
    LEFT JOIN (
        SELECT stock_id, sum(quantity) AS quantity FROM reservations GROUP BY stock_id
    ) AS held ON held.stock_id = stock.id
    WHERE stock.quantity <> coalesce(ledger.quantity, 0)
        OR stock.quarantined <> coalesce(ledger.quarantined, 0)
        OR stock.reserved <> coalesce(held.quantity, 0)
"""
MISPOSTED: Final = """
    SELECT sales_orders.external_ref || ' line ' || (line.position + 1)
    FROM sales_order_lines AS line
    JOIN sales_orders ON sales_orders.id = line.sales_order_id
    LEFT JOIN (
        SELECT document_line_id, count(*) AS movements, sum(quantity) AS quantity
        FROM stock_movements WHERE document_line_id IS NOT NULL GROUP BY document_line_id
    ) AS posted ON posted.document_line_id = line.id
    WHERE coalesce(posted.movements, 0) <> (sales_orders.status = 'LIVRAT')
        OR coalesce(posted.quantity, 0) <> CASE sales_orders.status WHEN 'LIVRAT' THEN -line.quantity ELSE 0 END
"""
Found = dict[str, list[object]]
"""What there is under each key; one thing, when all is well."""


def failures(shop: Shop, month: Month, folder: Path) -> Iterator[str]:
    """A sentence for each thing that is not as it must be."""
    yield from _orders(shop, month)
    yield from _stock(shop, month, folder)
    yield from _ledger(folder / "data" / "companies" / f"{shop.company.id}.db")


def _orders(shop: Shop, month: Month) -> Iterator[str]:
    partners = {id: code for code, id in shop.ids("/api/partners").items()}
    expected: Found = {}
    for number, order in month.orders.items():
        _add(expected, number, month.way(number), (order.partner, order.day), order.lines)
    found: Found = {}
    for record in shop.walk("/api/v2/sales-orders"):
        number, way = record["external_ref"], tuple(reached["status"] for reached in record["status_history"])
        lines = [(line["article_code"], line["quantity"]) for line in record["lines"]]
        _add(found, number, way, (partners[record["partner_id"]], record["requested_date"]), lines)
        if record["status"] != way[-1]:
            yield f"Order {number} is {record['status']}, but the last status that it reached is {way[-1]}."
    yield from _differences("Order", expected, found)


def _add(orders: Found, number: str, way: tuple[str, ...], header: tuple[str, str], lines: list[Line]) -> None:
    """Part by part, so that a difference is told as what it is; an order that is there twice has two of each."""
    parts: dict[str, object] = {f"{number} partner and day": header, f"{number} statuses": way}
    parts |= {f"{number} line {position}": line for position, line in enumerate(lines, start=1)}
    for part, value in parts.items():
        orders.setdefault(part, []).append(value)


def _stock(shop: Shop, month: Month, folder: Path) -> Iterator[str]:
    shipped = month.shipped()
    left = {code: opening - shipped[code] for code, opening in opening_stock(folder).items()}
    expected: Found = {code: [(quantity, 0, quantity)] for code, quantity in left.items()}
    found: Found = {}
    for record in shop.walk("/api/v2/stock"):
        shown = (record["quantity"], record["reserved"], record["available"])
        found.setdefault(record["article_code"], []).append(shown)
    yield from _differences("Stock (quantity, reserved, available) of", expected, found)


def _differences(what: str, expected: Found, found: Found) -> Iterator[str]:
    for key in sorted(expected.keys() | found.keys()):
        if expected.get(key) != found.get(key):
            yield f"{what} {key}: expected {expected.get(key, [])}, found {found.get(key, [])}."


def _ledger(file: Path) -> Iterator[str]:
    connection = connect(file, read_only=True)
    try:
        for (code,) in connection.execute(UNBALANCED):
            yield f"Stock of {code}: the balance is not the sum of its ledger and its reservations."
        for (line,) in connection.execute(MISPOSTED):
            yield f"Order {line}: it is not in the ledger exactly once, with what was shipped."
    finally:
        connection.close()
