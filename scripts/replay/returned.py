"""The returns, planned from the month's credit notes."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count, cycle
from typing import Final

from replay.articles import Article
from replay.invoices import WALK_IN, Invoice, Line, Month

DISPOSITIONS: Final = ("RESTOC", "CARANTINA", "DISTRUS")
WAY: Final = ("CREAT", "RECEPTIONAT", "FINALIZAT")


@dataclass(frozen=True, slots=True)
class ReturnedLine:
    code: str
    quantity: int
    disposition: str
    lot: str | None
    serials: list[str]


@dataclass(frozen=True, slots=True)
class Return:
    """A return. `order` is the number of the sales order whose goods are returned, or None for a return without an
    order.

    With `is_decided_late`, the dispositions are sent only when the goods have arrived.
    """

    ref: str
    partner: str
    order: str | None
    lines: list[ReturnedLine]
    is_decided_late: bool


def plan_returns(month: Month, articles: Mapping[str, Article]) -> list[Return]:
    shares = list(_shares(month))
    dispositions = cycle(DISPOSITIONS)
    returns = []
    for number, (credit, order, lines) in enumerate(shares):
        ref = f"{credit.number}/{order}" if order else credit.number
        names = (f"{ref}-{unit}" for unit in count(1))
        found = []
        for code, quantity in lines:
            # An order's invoice does not name the lots and serials that were shipped, so only free returns name
            # them.
            article = articles.get(code) if order is None else None
            lot = ref if article and article.in_lots else None
            serials = [next(names) for _ in range(quantity)] if article and article.has_serials else []
            found.append(ReturnedLine(code, quantity, next(dispositions), lot, serials))
        returns.append(Return(ref, credit.partner, order, found, is_decided_late=number % 2 == 1))
    return returns


def _shares(month: Month) -> Iterator[tuple[Invoice, str | None, list[Line]]]:
    """Yield each credit note once for each order to which some of its lines return, with the order's number and
    these lines.

    The number is None for the lines that return to no order.
    """
    left = {number: order.pieces() for number, order in month.orders.items()}
    orders_of: dict[str, list[Invoice]] = defaultdict(list)
    for order in reversed(month.orders.values()):
        orders_of[order.partner].append(order)
    for credit in month.credits:
        earlier = [order for order in orders_of[credit.partner] if order.at < credit.at]
        candidates = [] if credit.partner == WALK_IN else [order.number for order in earlier]
        shares: dict[str | None, list[Line]] = defaultdict(list)
        for line in credit.lines:
            for number, code, quantity in _fitting(line, candidates, left):
                shares[number].append((code, quantity))
        for number, lines in shares.items():
            yield credit, number, lines


def _fitting(
    line: Line, candidates: list[str], left: Mapping[str, Counter[str]]
) -> Iterator[tuple[str | None, str, int]]:
    """Divide the line among the orders to which it can return. Yield each part as (order number, stock code,
    quantity).

    `left` has the pieces of each order that can still return, and is reduced here. The quantity that fits no
    candidate comes last, with None as the order number.
    """
    code, quantity = line
    for number in candidates:
        part = min(quantity, left[number][code])
        if part:
            left[number][code] -= part
            quantity -= part
            yield number, code, part
    if quantity:
        yield None, code, quantity
