"""What the shop buys before the month to cover its sales: purchase orders and their receptions."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from replay.articles import TOLERANCE, Article
from replay.invoices import Line

MOST_ITEMS: Final = 1000
AT_ONCE: Final = ("CREAT", "FINALIZAT")
WALKED: Final = ("CREAT", "IN_LUCRU", "FINALIZAT")
CANCELLED: Final = ("CREAT", "ANULAT")
DELETED: Final = ("CREAT",)
RECEIVED_BY: Final = {1: ("CREAT", "RECEPTIONAT"), 2: ("CREAT", "PARTIAL", "RECEPTIONAT")}
"""The status history of a purchase order that is received in one part (1), or in several parts or short (2)."""
Share = list[Line]
"""The articles and quantities that one reception brings, in boxes for an article that comes in boxes."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A line of a reception. `units` are boxes if the article comes in boxes."""

    code: str
    units: int
    pieces: int
    lot: str | None
    serials: list[str]


@dataclass(frozen=True, slots=True)
class Reception:
    ref: str
    way: tuple[str, ...]
    arrivals: list[Arrival]


@dataclass(frozen=True, slots=True)
class PurchaseOrder:
    """A purchase order. `drafts` are receptions that are cancelled or deleted.

    `rest` is the order for the missing goods if this one is closed short.
    """

    ref: str
    supplier: str
    lines: list[Line]
    receptions: list[Reception]
    drafts: list[Reception] = field(default_factory=list)
    rest: "PurchaseOrder | None" = None

    @property
    def way(self) -> tuple[str, ...]:
        return RECEIVED_BY[2 if self.rest or len(self.receptions) > 1 else 1]

    def received(self) -> Counter[str]:
        """Return the received pieces by code, without those of drafts."""
        sums: Counter[str] = Counter()
        for reception in self.receptions:
            sums.update({arrival.code: arrival.pieces for arrival in reception.arrivals})
        return sums


def supplier(code: str) -> str:
    return f"SUPPLIER-{code[:2]}"


def plan_supply(sold: Mapping[str, int], articles: Mapping[str, Article]) -> list[PurchaseOrder]:
    """Return the purchase orders.

    An order for missing goods is the `rest` of its first order, not an entry of the list.
    """
    wanted = [
        (f"{code}-{number}", code, lines)
        for code, of_supplier in groupby(sorted(sold), key=supplier)
        for number, lines in enumerate(_chunks([(each, sold[each]) for each in of_supplier]), start=1)
    ]
    largest = max(range(len(wanted)), key=lambda index: len(wanted[index][2]))
    planner = _Planner(articles)
    orders = [
        planner.order(*each, parts=2 + index % 2, is_short=index == largest) for index, each in enumerate(wanted)
    ]
    orders[0] = _with_draft(orders[0], "CANCELLED", CANCELLED)
    orders[-1] = _with_draft(orders[-1], "DELETED", DELETED)
    return orders


def every_order(orders: Iterable[PurchaseOrder]) -> list[PurchaseOrder]:
    """Return all orders, including those for missing goods."""
    return [each for order in orders for each in ([order, order.rest] if order.rest else [order])]


def _chunks(lines: list[Line]) -> list[list[Line]]:
    return [lines[first : first + MOST_ITEMS] for first in range(0, len(lines), MOST_ITEMS)]


def _with_draft(order: PurchaseOrder, name: str, way: tuple[str, ...]) -> PurchaseOrder:
    draft = replace(order.receptions[0], ref=f"{order.ref}/{name}", way=way)
    return replace(order, drafts=[*order.drafts, draft])


@dataclass(slots=True)
class _Planner:
    """A planner of purchase orders. `arrived` counts the pieces planned so far by article, because serials are
    numbered in the order of arrival.
    """

    articles: Mapping[str, Article]
    arrived: Counter[str] = field(default_factory=Counter)

    def order(self, ref: str, supplier: str, lines: list[Line], parts: int, is_short: bool) -> PurchaseOrder:
        boxes = [(code, pieces // self.articles[code].box) for code, pieces in lines]
        shares = [share for part in range(parts) if (share := _share(boxes, part, parts))]
        if not is_short or len(shares) == 1:
            shares[-1] = self._with_extra(shares[-1], dict(boxes))
            return PurchaseOrder(ref, supplier, lines, self._receptions(ref, shares))
        *shares, missing = shares
        receptions = self._receptions(ref, shares)
        lacking = [(code, units * self.articles[code].box) for code, units in missing]
        rest = self.order(f"{ref}-REST", supplier, lacking, 2, is_short=False)
        return PurchaseOrder(ref, supplier, lines, receptions, rest=rest)

    def _with_extra(self, share: Share, ordered: Mapping[str, int]) -> Share:
        """Return the share with the excess: as much as the tolerance allows, in whole boxes or pieces.

        The excess arrives last.
        """
        return [
            (code, units + ordered[code] * TOLERANCE // 100 * self.articles[code].is_over_delivered)
            for code, units in share
        ]

    def _receptions(self, ref: str, shares: list[Share]) -> list[Reception]:
        receptions = []
        for number, share in enumerate(shares, start=1):
            own = f"{ref}/{number}"
            arrivals = [self._arrival(code, units, own) for code, units in share]
            receptions.append(Reception(own, AT_ONCE if number % 2 else WALKED, arrivals))
        return receptions

    def _arrival(self, code: str, units: int, lot: str) -> Arrival:
        article = self.articles[code]
        pieces, before = units * article.box, self.arrived[code]
        self.arrived[code] += pieces
        numbers = range(before + 1, before + pieces + 1) if article.has_serials else ()
        serials = [f"{code}-{number}" for number in numbers]
        return Arrival(code, units, pieces, lot if article.in_lots else None, serials)


def _share(boxes: Iterable[Line], part: int, parts: int) -> Share:
    """Divide the quantity of each article into `parts` parts. Return the quantities of one part, whose number is
    `part`, counted from 0.

    Quantities that are too small to be divided come in the later parts. Articles without a quantity in this part
    are left out.
    """
    cut = [(code, units * (part + 1) // parts - units * part // parts) for code, units in boxes]
    return [(code, units) for code, units in cut if units]
