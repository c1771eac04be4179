"""The random requests of the sales order machine."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from tests.warehouse.sales_orders.model import TRANSITIONS
from tests.warehouse.stock.model import ARTICLES, MILLION, WAREHOUSES, Json, shown

SMALLEST = 1
AMOUNTS = st.sampled_from([SMALLEST, 100_000, 200_000, MILLION + 1]) | st.integers(1, 6 * MILLION)
TOO_MUCH = st.just(999_999_999_999_999)
COUNTS = st.sampled_from([0, SMALLEST, 10 * MILLION, 10 * MILLION + 1]) | st.integers(MILLION, 40 * MILLION)
PLACES = st.tuples(st.sampled_from(list(ARTICLES)), st.sampled_from(list(WAREHOUSES)))
STATUSES = st.sampled_from(list(TRANSITIONS))
BACK = st.integers(0, 6)
"""The position of an order, counted back from the latest one."""
OFFSETS = st.sampled_from([0, 0.001, 60, 86_400, 7 * 86_400, 7 * 86_400 + 0.001, -3_600, -20 * 86_400])
"""The setting of the wall clock, in seconds from the start."""


def _line(article: Json, amount: int, warehouse: int | None) -> Json:
    return {**article, "quantity": shown(amount), **({"warehouse_id": warehouse} if warehouse else {})}


def _lines(articles: Sequence[Json], amounts: st.SearchStrategy[int], warehouses: Sequence[int | None]) -> Any:
    line = st.builds(_line, st.sampled_from(articles), amounts, st.sampled_from(warehouses))
    return st.lists(line, min_size=1, max_size=4)


NAMED: list[Json] = [{"article_id": 1}, {"article_code": "A"}, {"article_id": 2, "article_code": "B"}]
MISNAMED: list[Json] = [
    {"article_id": 3},
    {"article_id": 99},
    {"article_code": "NO"},
    {"article_id": 2, "article_code": "A"},
]
LINES = _lines(NAMED, AMOUNTS, [None, None, 1, 2])
FIELDS = {
    "partner_id": st.sampled_from([1, 2]),
    "warehouse_id": st.sampled_from([1, 2]),
    "code": st.sampled_from([None, None, "MINE", "SO-000004", "SO-000009"]),
    "client_id": st.sampled_from([None, 1]),
    "external_ref": st.sampled_from([None, None, "R1", "R2", "R3"]),
    "notes": st.sampled_from([None, "Ring twice.", "țigări"]),
    "requested_date": st.sampled_from([None, "2026-12-24"]),
    "ship_to": st.sampled_from([None, {"city": "Cluj", "country": "RO"}, {"name": "Ana Pop", "phone": "0700"}]),
    "carrier": st.sampled_from([None, "Fan"]),
    "tracking_number": st.sampled_from([None, "F-1", "F-2"]),
    "customer_reference": st.sampled_from([None, "PO 7"]),
}
WRONG = {
    "partner_id": st.sampled_from([3, 99]),
    "warehouse_id": st.sampled_from([3, 99]),
    "client_id": st.just(99),
    "lines": _lines([*NAMED, *MISNAMED], AMOUNTS | TOO_MUCH, [None, 1, 3, 99]),
}
"""Wrong ids: 3 is not active, and 99 does not exist."""


def _of(values: dict[str, st.SearchStrategy[Any]], *names: str) -> dict[str, st.SearchStrategy[Any]]:
    return {name: values[name] for name in names}


ORDERS = st.fixed_dictionaries(
    {**_of(FIELDS, "partner_id", "warehouse_id"), "lines": LINES},
    optional=_of(FIELDS, "client_id", "notes", "requested_date", "ship_to", "carrier", "customer_reference"),
)
NAMES = st.fixed_dictionaries(_of(FIELDS, "code", "external_ref"))
CHANGES = st.one_of(
    *(
        st.fixed_dictionaries(_of({**FIELDS, "lines": LINES, "status": STATUSES}, *names))
        for names in (
            ["lines"],
            ["lines", "status"],
            ["warehouse_id"],
            ["warehouse_id", "status"],
            ["warehouse_id", "lines"],
            ["notes", "status"],
            ["partner_id", "external_ref"],
            ["code", "client_id", "requested_date"],
            ["ship_to"],
            ["ship_to", "status"],
            ["tracking_number"],
            ["tracking_number", "status"],
            ["carrier", "tracking_number", "customer_reference"],
            [],
        )
    )
)
MISTAKES = st.fixed_dictionaries({}, optional=WRONG)
ASKED: st.SearchStrategy[tuple[str, int, Json]] = st.one_of(
    st.tuples(st.just("create"), st.just(0), ORDERS),
    st.tuples(st.just("move"), BACK, st.fixed_dictionaries({"status": STATUSES})),
    st.tuples(st.just("get"), BACK, st.just({})),
)
