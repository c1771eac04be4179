"""A month's invoices, sorted into orders, credit notes and others by the rules of `scripts/replay-month
--help`.
"""

import csv
import lzma
import re
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final

GOODS: Final = re.compile(r"[0-9]{5}|DCGS[0-9]{4}")
WALK_IN: Final = "WALK-IN"
Row = dict[str, str]
Line = tuple[str, int]
"""A stock code, and how many pieces are bought, sold or returned."""


@dataclass(frozen=True, slots=True)
class Invoice:
    """An invoice with its lines of goods, or a credit note with the returned goods.

    `at` is the time as in the source.
    """

    number: str
    at: str
    partner: str
    lines: list[Line]

    @property
    def day(self) -> str:
        return self.at[:10]

    def pieces(self) -> Counter[str]:
        sums: Counter[str] = Counter()
        for code, quantity in self.lines:
            sums[code] += quantity
        return sums


@dataclass(slots=True)
class Month:
    """The orders by number, the credit notes, and counts of what is left out; all in the order of the source."""

    orders: dict[str, Invoice] = field(default_factory=dict)
    credits: list[Invoice] = field(default_factory=list)
    corrections: int = 0
    without_goods: int = 0
    no_goods: Counter[str] = field(default_factory=Counter)

    def add(self, number: str, rows: list[Row]) -> None:
        if corrects_stock(rows):
            self.corrections += 1
            return
        codes = [row["StockCode"].strip() for row in rows]
        self.no_goods.update(code for code in codes if not GOODS.match(code))
        sign = -1 if number.startswith("C") else 1
        lines = [
            (code, sign * int(row["Quantity"])) for code, row in zip(codes, rows, strict=True) if GOODS.match(code)
        ]
        invoice = Invoice(number, rows[0]["InvoiceDate"], partner(rows[0]), lines)
        if not lines:
            self.without_goods += 1
        elif sign > 0:
            self.orders[number] = invoice
        else:
            self.credits.append(invoice)

    def sold(self) -> Counter[str]:
        """Return the sold pieces by stock code."""
        sums: Counter[str] = Counter()
        for order in self.orders.values():
            sums.update(order.pieces())
        return sums


def corrects_stock(rows: list[Row]) -> bool:
    return not any(row["CustomerID"] or Decimal(row["UnitPrice"]) for row in rows)


def partner(row: Row) -> str:
    """Return the code that scripts/retail-files gives the customer."""
    return str(int(Decimal(row["CustomerID"]))) if row["CustomerID"] else WALK_IN


def read_month(source: Path, most: int | None = None) -> Month:
    """Return the month's invoices. If `most` is given, stop after this number of orders."""
    month = Month()
    with lzma.open(source, "rt", encoding="utf-8", newline="") as file:
        for number, rows in groupby(csv.DictReader(file), key=itemgetter("InvoiceNo")):
            month.add(number, list(rows))
            if len(month.orders) == most:
                break
    return month
