"""The random requests of the returns machine: quantities of a sales order's goods, with lots and serials."""

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import strategies as st

from tests.warehouse.returns.model import Returns
from tests.warehouse.sales_orders.shipping import SHIPPED
from tests.warehouse.stock.goods import GOODS, LOT, PAIR, SERIAL
from tests.warehouse.stock.model import MILLION, Json, shown

FURTHEST = 3
BACK = st.integers(0, FURTHEST)
"""The position of a document, counted back from the latest one."""
STATUSES = st.sampled_from(["CREAT", "RECEPTIONAT", "FINALIZAT", "ANULAT"])
DISPOSITIONS = st.sampled_from(["RESTOC", "CARANTINA", "DISTRUS", None])
REASONS = st.sampled_from([None, "Wrong colour"])
FIELDS = {
    "warehouse_id": st.sampled_from([1, 1, 2]),
    "reason": REASONS,
    "notes": st.sampled_from([None, "Pallet 3", "țigări"]),
    "external_ref": st.sampled_from([None, None, "R1", "R2"]),
    "code": st.sampled_from([None, None, "MINE", "RT-000003"]),
}
RETURNS = st.fixed_dictionaries(
    {"warehouse_id": FIELDS["warehouse_id"]},
    optional={name: FIELDS[name] for name in ("reason", "notes", "external_ref", "code")},
)
CHANGES = st.fixed_dictionaries(
    {},
    optional={**FIELDS, "status": STATUSES, "partner_id": st.sampled_from([1, 2])},
)
MISTAKES = st.fixed_dictionaries(
    {},
    optional={
        "partner_id": st.sampled_from([2, 3, 99]),
        "warehouse_id": st.sampled_from([3, 99]),
        "sales_order_id": st.just(99),
        "status": STATUSES,
        "lines": st.sampled_from(
            [
                [{"article_id": 1, "quantity": 1}, {"article_id": 99, "quantity": 1}],
                [{"article_id": 1}],
                [{"article_id": 5, "quantity": 1.5}],
                [{"article_id": 1, "quantity": 1, "serials": ["S1"]}],
                [{"article_id": 5, "quantity": 2, "serials": ["S1", "S1"]}],
                [{"article_id": 5, "quantity": 2, "serials": ["S1"]}],
            ]
        ),
    },
)


class Piece(NamedTuple):
    """A quantity that comes back, of one of the parts that an order shipped, or of any article."""

    part: int
    how: str
    names: str
    disposition: str | None

    def of(self, returns: Returns, order_id: int | None) -> Json:
        """Return a line with the lot and the serial that left, unless `names` asks for other ones."""
        parts = returns.stock.sent_out(order_id) if order_id else []
        if self.names == "of an earlier load":
            parts = parts and returns.stock.ever_loaded(order_id or 0)
        if not parts:
            return self._free(returns)
        _, (article, _), part = parts[self.part % len(parts)]
        left = returns.shipped(order_id or 0)[article] - returns.returned(order_id or 0)[article]
        quantity = {"half": part.quantity // 2, "left": left, "beyond": left + MILLION}.get(
            self.how, part.quantity
        )
        line: Json = {"article_id": article, "disposition": self.disposition}
        if part.lot is not None and self.names != "unknown":
            line["lot_number"] = "GONE" if self.names == "wrong" else part.lot
        if part.serial is not None and self.names != "unknown":
            name = f"S{self.part}" if self.names == "wrong" else part.serial
            return {**line, "quantity": 1, "serials": [name]}
        return {**line, "quantity": _amount(article, quantity)}

    def _free(self, returns: Returns) -> Json:
        article = sorted(GOODS)[self.part % len(GOODS)]
        line: Json = {"article_id": article, "disposition": self.disposition}
        if GOODS[article].tracks_lots and self.names != "unknown":
            line["lot_number"] = f"L{1 + self.part % 3}"
        if GOODS[article].tracks_serials and self.names != "unknown":
            names = [f"S{self.part}", f"S{self.part + 20}"]
            return {**line, "quantity": len(names), "serials": names}
        return {**line, "quantity": _amount(article, MILLION if self.how == "part" else MILLION * 5 // 2)}


def _amount(article: int, quantity: int) -> float:
    if GOODS[article].tracks_serials:
        quantity = quantity // MILLION * MILLION
    return shown(quantity if quantity > 0 else MILLION)


PIECES = st.lists(
    st.builds(
        Piece,
        st.integers(0, 19),
        st.sampled_from(["part", "part", "half", "half", "left", "beyond"]),
        st.sampled_from(
            [*["right"] * 6, "unknown", "unknown", "wrong", "of an earlier load", "of an earlier load"]
        ),
        DISPOSITIONS,
    ),
    min_size=1,
    max_size=3,
)


class Edit(NamedTuple):
    """A change to the lines of a return when some of them are sent back."""

    at: int
    what: str
    disposition: str | None

    def of(self, lines: Sequence[Json]) -> list[Json]:
        edited = [dict(line) for line in lines]
        place = self.at % len(edited)
        line = edited[place]
        line["disposition"] = self.disposition
        if self.what == "disposition alone":
            return [{"id": line["id"], "disposition": self.disposition}]
        if self.what == "of an unknown line":
            return [{"id": 9_999, "disposition": self.disposition}]
        if self.what == "more":
            line["quantity"] = round(line["quantity"] + 1, 6)
        elif self.what == "without":
            del edited[place]
        elif self.what == "reversed":
            edited.reverse()
        elif self.what == "in part":
            edited[place] = {"id": line["id"], "quantity": line["quantity"]}
        elif self.what == "anew":
            del line["id"]
        return edited or [{"article_id": 1, "quantity": 1}]


WHAT = ["disposition alone", "of an unknown line", "more", "without", "reversed", "in part", "anew", "as it is"]
EDITS = st.builds(Edit, st.integers(0, 2), st.sampled_from([*WHAT, "disposition alone"]), DISPOSITIONS)
SOLD: list[Json] = [
    {"article_id": article, "quantity": quantity} for article, quantity in [(LOT, 5), (SERIAL, 2), (PAIR, 2)]
]
"""The goods that the first order loads."""
WALKS = st.sampled_from([["RECEPTIONAT"], ["RECEPTIONAT", "FINALIZAT"], ["RECEPTIONAT", "FINALIZAT"], ["ANULAT"]])


def shipped_orders(returns: Returns) -> list[int]:
    return [order.id for order in returns.orders.by_id.values() if order.status in SHIPPED]
