"""The random requests of the reception machine: quantities of an order's items, with lots and serials."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.warehouse.receptions.model import Receptions
from tests.warehouse.stock.goods import GOODS, LENIENT, LOT, PAIR, SERIAL
from tests.warehouse.stock.model import MILLION, Json, shown

FURTHEST = 3
BACK = st.integers(0, FURTHEST)
"""The position of a document, counted back from the latest one."""
LOTS = st.sampled_from(["L1", "L2", "L3"])
SERIALS = [f"S{number}" for number in range(40)]
PLACES = st.sampled_from([1, 1, 1, 2])
ORDER_STATUSES = st.sampled_from(["CREAT", "PARTIAL", "RECEPTIONAT", "ANULAT"])
STATUSES = st.sampled_from(["CREAT", "IN_LUCRU", "FINALIZAT", "ANULAT"])
NOTES = st.sampled_from([None, "Ramp 2", "țigări"])
CODES = st.sampled_from([None, None, None, "MINE", "PO-000003", "RC-000004"])
REFERENCES = st.sampled_from([None, None, "R1", "R2"])


def _ordered(article: int, units: float) -> Json:
    is_whole = GOODS[article].tracks_serials
    return {"article_id": article, "quantity": max(1, int(units)) if is_whole else units}


ITEM = st.builds(_ordered, st.sampled_from(sorted(GOODS)), st.sampled_from([1, 2, 3, 4, 6, 2.5, 0.999999]))
ITEMS = st.lists(ITEM, min_size=1, max_size=4)
ORDERS = st.fixed_dictionaries(
    {"partner_id": st.sampled_from([1, 4]), "warehouse_id": PLACES, "items": ITEMS},
    optional={"notes": NOTES, "expected_date": st.sampled_from([None, "2026-12-24"]), "code": CODES},
)
ORDER_MISTAKES = st.fixed_dictionaries(
    {},
    optional={
        "partner_id": st.sampled_from([3, 99]),
        "warehouse_id": st.sampled_from([3, 99]),
        "status": ORDER_STATUSES,
        "items": st.just([{"article_id": 1, "quantity": 1}, {"article_id": 3, "quantity": 1}]),
    },
)
ORDER_CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "notes": NOTES,
        "external_ref": REFERENCES,
        "partner_id": st.sampled_from([1, 4]),
        "status": ORDER_STATUSES,
        "items": ITEMS,
    },
)


class Edit(NamedTuple):
    """A change to an order's items when they are sent back: one item may go, change, or lose its id."""

    at: int
    what: str
    more: list[Json]

    def of(self, items: Sequence[Json]) -> list[Json]:
        edited = [dict(item) for item in items]
        place = self.at % len(edited)
        if self.what == "without" and (len(edited) > 1 or self.more):
            del edited[place]
        elif self.what == "more":
            edited[place]["quantity"] = round(edited[place]["quantity"] + 1, 6)
        elif self.what == "reversed":
            edited.reverse()
        elif self.what == "anew":
            del edited[place]["id"]
        return [*edited, *self.more]


EDITS = st.builds(
    Edit,
    st.integers(0, 3),
    st.sampled_from(["without", "without", "more", "reversed", "anew", "as it is"]),
    st.lists(ITEM, max_size=1),
)


class Pick(NamedTuple):
    """The arrival of an item; `names` tells whether lots and serials are right."""

    item: int
    how: str
    lot: str
    serial: int
    names: str

    def of(self, order_items: Sequence[Json], receptions: Receptions) -> Json:
        item = order_items[self.item % len(order_items)]
        article, amount = GOODS[item["article_id"]], self._amount(item, receptions.most(item))
        um3pl = amount * MILLION // article.factor
        if self.how != "odd" and (article.factor < MILLION or article.tracks_serials):
            um3pl = um3pl // MILLION * MILLION or MILLION
        um3pl = min(max(um3pl, 1), 20 * MILLION)
        sent: Json = {"po_item_id": item["id"], "quantity_um3pl": shown(um3pl)}
        if article.tracks_lots != (self.names == "no lot"):
            sent["lot_number"] = self.lot
        if article.tracks_serials != (self.names == "no serials"):
            sent["serial_data"] = self._serials(um3pl * article.factor // MILLION // MILLION)
        return sent

    def _amount(self, item: Json, most: int) -> int:
        rest: int = max(item["quantity"] - item["received"], 0)
        amounts: dict[str, int] = {
            "rest": rest,
            "half": rest // 2,
            "most": most - item["received"],
            "one": MILLION,
        }
        return amounts.get(self.how, 100_000 if self.how == "odd" else most + 1)

    def _serials(self, count: int) -> list[str]:
        count += {"one more": 1, "one less": -1}.get(self.names, 0)
        names = [SERIALS[(self.serial + place) % len(SERIALS)] for place in range(max(count, 0))]
        return names[:-1] + names[:1] if self.names == "twice" else names


RIGHT = ["right"] * 14
PICKS = st.builds(
    Pick,
    st.integers(0, 3),
    st.sampled_from([*["rest", "half", "one"] * 2, "most", "most", "beyond", "odd"]),
    LOTS,
    st.integers(0, len(SERIALS) - 1),
    st.sampled_from([*RIGHT, "no lot", "no serials", "one more", "one less", "twice"]),
)
SEVERAL = st.lists(PICKS, min_size=1, max_size=3)
FIELDS = {
    "warehouse_id": PLACES,
    "transport_ecc": st.sampled_from([None, "ECC-1"]),
    "external_ref": REFERENCES,
    "notes": NOTES,
    "code": CODES,
}
OPTIONAL_FIELDS: dict[str, Any] = {
    name: FIELDS[name] for name in ("transport_ecc", "notes", "code", "external_ref")
}
RECEPTIONS = st.fixed_dictionaries({"warehouse_id": PLACES}, optional=OPTIONAL_FIELDS)
AT_ONCE = st.sampled_from(["FINALIZAT", "FINALIZAT", "CREAT", "CREAT", "CREAT", "IN_LUCRU"])
RECEPTION_CHANGES = st.fixed_dictionaries({}, optional={**FIELDS, "status": STATUSES})
RECEPTION_MISTAKES = st.fixed_dictionaries(
    {},
    optional={
        "warehouse_id": st.sampled_from([3, 99]),
        "purchase_order_id": st.sampled_from([1, 2, 99]),
        "selected_items": st.just(
            [{"po_item_id": 1, "quantity_um3pl": 1}, {"po_item_id": 999, "quantity_um3pl": 1}]
        ),
    },
)


def items(picks: Sequence[Pick], order_items: Sequence[Json], receptions: Receptions) -> list[Json]:
    """Return each item once. An item may repeat only if the reception is to exceed its order."""
    may_repeat = any(pick.how == "beyond" for pick in picks)
    by_item = {
        (pick.item % len(order_items), place if may_repeat else 0): pick for place, pick in enumerate(picks)
    }
    return [pick.of(order_items, receptions) for pick in by_item.values()]


def all_that_is_left(serial: int, order_items: Sequence[Json], receptions: Receptions) -> list[Json]:
    """Return an arrival of everything that is still missing, with correct lots and serials."""
    picks = [
        Pick(place, "rest", f"L{1 + place % 3}", serial + 7 * place, "right")
        for place, item in enumerate(order_items)
        if item["received"] < item["quantity"]
    ]
    return [pick.of(order_items, receptions) for pick in picks]


def _order(*items: tuple[int, float]) -> Json:
    ordered = [{"article_id": article, "quantity": quantity} for article, quantity in items]
    return {"partner_id": 4, "warehouse_id": 1, "items": ordered}


FIRST_ORDER = _order((LOT, 4), (LOT, 4), (SERIAL, 4), (PAIR, 4), (PAIR, 2))
LENIENT_ORDER = _order((LENIENT, 4), (LENIENT, 2))
