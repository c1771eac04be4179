"""A month's invoices, and what becomes of each: the rules that `scripts/replay-month --help` tells."""

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
DELIVERED: Final = ("CREAT", "IN_LUCRU", "INCARCAT", "LIVRAT")
CANCELLED: Final = ("CREAT", "IN_LUCRU", "ANULAT")
Row = dict[str, str]
Line = tuple[str, int]
"""A stock code, and how many pieces of it are sold or taken back."""


@dataclass(frozen=True, slots=True)
class Invoice:
    """Its goods, line by line; of a credit note, what it takes back."""

    number: str
    day: str
    partner: str
    lines: list[Line]

    def pieces(self) -> Counter[str]:
        sums: Counter[str] = Counter()
        for code, quantity in self.lines:
            sums[code] += quantity
        return sums

    def takes_back(self, order: "Invoice") -> bool:
        """Whether this credit note undoes the order, as a whole and before its day is over."""
        is_same = (self.partner, self.day) == (order.partner, order.day) and self.partner != WALK_IN
        return is_same and self.pieces() == order.pieces()


@dataclass(slots=True)
class Month:
    """Its orders by number, which of them what credit note cancels, what is kept for returns, what is left out."""

    orders: dict[str, Invoice] = field(default_factory=dict)
    cancelled: dict[str, str] = field(default_factory=dict)
    returns: list[Invoice] = field(default_factory=list)
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
        invoice = Invoice(number, rows[0]["InvoiceDate"][:10], partner(rows[0]), lines)
        if not lines:
            self.without_goods += 1
        elif sign > 0:
            self.orders[number] = invoice
        else:
            self._take_back(invoice)

    def _take_back(self, credit: Invoice) -> None:
        """The latest order that it undoes is cancelled; one that undoes none is kept."""
        for number, order in reversed(self.orders.items()):
            if number not in self.cancelled and credit.takes_back(order):
                self.cancelled[number] = credit.number
                return
        self.returns.append(credit)

    def way(self, number: str) -> tuple[str, ...]:
        """The statuses that the order goes through."""
        return CANCELLED if number in self.cancelled else DELIVERED

    def shipped(self) -> Counter[str]:
        """Pieces by stock code."""
        sums: Counter[str] = Counter()
        for number, order in self.orders.items():
            if number not in self.cancelled:
                sums += order.pieces()
        return sums


def corrects_stock(rows: list[Row]) -> bool:
    return not any(row["CustomerID"] or Decimal(row["UnitPrice"]) for row in rows)


def partner(row: Row) -> str:
    """The code that scripts/retail-files gives the customer."""
    return str(int(Decimal(row["CustomerID"]))) if row["CustomerID"] else WALK_IN


def read_month(source: Path, most: int | None = None) -> Month:
    """The month, or its beginning up to the order that makes it `most`."""
    month = Month()
    with lzma.open(source, "rt", encoding="utf-8", newline="") as file:
        for number, rows in groupby(csv.DictReader(file), key=itemgetter("InvoiceNo")):
            month.add(number, list(rows))
            if len(month.orders) == most:
                break
    return month


def write_returns(path: Path, returns: list[Invoice]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("external_ref", "day", "partner_code", "article_code", "quantity"))
        for credit in returns:
            writer.writerows((credit.number, credit.day, credit.partner, *line) for line in credit.lines)
