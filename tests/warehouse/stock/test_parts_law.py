"""Manual changes in any order: the stock agrees with the model, and the doctor finds nothing."""

from collections.abc import Awaitable
from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.goods import Store, open_store
from tests.support.thorough import IS_THOROUGH
from tests.support.world import World
from tests.warehouse.stock.parts_model import Model, Refused, Row
from wmsd.base.problems import Problem
from wmsd.contract.bulk_imports import ImportRefused

ARTICLES, WAREHOUSES = {1: "P", 2: "L", 3: "S"}, {1: "MAIN", 2: "EAST"}
places = st.tuples(st.sampled_from([1, 2, 2, 3, 3, 3]), st.sampled_from([1, 1, 2]))
lots = st.sampled_from([None, "L1", "L2"])
serials = st.sampled_from(["S1", "S2", "S3"])
some_serials = st.lists(serials, min_size=1, max_size=2, unique=True)
amounts = st.sampled_from([0, 0.5, 1, 2, 3, 5])
some = st.sampled_from([0.5, 1, 2, 3])


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    found: dict[tuple[Any, ...], Row] = {}
    for _ in range(draw(st.integers(1, 5))):
        warehouse, lot, serial = draw(st.sampled_from([1, 1, 2])), draw(lots), draw(st.none() | serials)
        quantity = draw(st.sampled_from([0, 1, 1])) if serial else draw(amounts)
        quarantined = draw(st.none() | st.sampled_from([part for part in (0, 0.5, 1) if part <= quantity]))
        if serial and quarantined == 0.5:
            quarantined = 0
        found[warehouse, lot, serial] = Row(warehouse, lot, serial, quantity, quarantined)
    there: set[tuple[str | None, ...]] = set()
    for key, row in [*found.items()]:
        if row.serial and row.quantity and (row.serial,) in there:
            del found[key]  # a file that counts a part twice is refused before the check
        elif row.serial and row.quantity:
            there.add((row.serial,))
    return list(found.values())


steps = st.one_of(
    st.tuples(st.just("by"), places, lots, some, st.booleans()),
    st.tuples(st.just("to"), places, lots, amounts),
    st.tuples(st.just("serials"), places, lots, some_serials, st.booleans()),
    st.tuples(st.just("quarantine"), places, lots, some, st.booleans()),
    st.tuples(st.just("quarantine serials"), places, st.none() | lots, some_serials, st.booleans()),
    st.tuples(st.just("everything"), places, lots, st.booleans()),
    st.tuples(st.just("count"), st.sampled_from([1, 2, 3, 3]), rows()),
    st.tuples(st.just("order"), places, lots, st.none() | serials, some),
)


def asked(store: Store, model: Model, step: Any) -> tuple[Awaitable[Any], Any]:
    """Return the action of a step, and the same action in the model."""
    match step:
        case ("by", place, lot, amount, rises):
            by = amount if rises else -amount
            return store.adjust(*place, by=by, lot_number=lot), lambda: model.adjust_by(place, lot, by)
        case ("to", place, lot, amount):
            return store.adjust(*place, to=amount, lot_number=lot), lambda: model.adjust_to(place, lot, amount)
        case ("serials", place, lot, names, added):
            by = len(names) if added else -len(names)
            change = model.add_serials if added else model.remove_serials
            doing = store.adjust(*place, by=by, serials=names, lot_number=lot)
            return doing, lambda: change(place, lot, names)
        case ("quarantine", place, lot, amount, enters):
            act = store.quarantine if enters else store.release
            doing = act(*place, quantity=amount, lot_number=lot)
            return doing, lambda: model.quarantine(place, lot, amount if enters else -amount)
        case ("quarantine serials", place, lot, names, enters):
            act = store.quarantine if enters else store.release
            doing = act(*place, serials=names, lot_number=lot)
            return doing, lambda: model.quarantine_serials(place, lot, names, enters)
        case ("everything", place, lot, enters):
            act = store.quarantine if enters else store.release
            doing = act(*place, everything=True, lot_number=lot)
            return doing, lambda: model.quarantine_all(place, lot, enters)
        case ("count", article, counted):
            return store.count(written(article, counted)), lambda: model.count(article, counted)
    raise AssertionError(step)


def written(article: int, counted: list[Row]) -> str:
    lines = [
        f"{ARTICLES[article]},{WAREHOUSES[row.warehouse]},{row.lot or ''},{row.serial or ''},{row.quantity},"
        f"{'' if row.quarantined is None else row.quarantined}\n"
        for row in counted
    ]
    return "".join(lines)


async def order(store: Store, model: Model, step: Any) -> None:
    """Reserve some of the goods in an order and in the model, if wmsd accepts the order. Other tests check the
    refusals.
    """
    _, (article, warehouse), lot, serial, amount = step
    record = model.at((article, warehouse))
    line: dict[str, Any] = {"article_id": article, "quantity": amount}
    if serial is not None:
        line |= {"quantity": 1, "serials": [serial]}
    elif lot is not None:
        line |= {"lot_number": lot}
    body = {"partner_id": 1, "warehouse_id": warehouse, "lines": [line]}
    if (await store.world.send("POST", "/api/sales-orders", body)).status != 201:
        return
    record.reserved += line["quantity"]
    if serial is not None:
        record.held.add(serial)
        key = record.key_of(serial)
        assert key is not None
        lot = key[0]
    if lot is not None:
        record.lots_reserved[lot] = record.lots_reserved.get(lot, 0) + line["quantity"]


async def holds(doing: Awaitable[Any]) -> bool:
    try:
        await doing
    except (Problem, ImportRefused):
        return False
    return True


def agrees(change: Any) -> bool:
    try:
        change()
    except Refused:
        return False
    return True


COMPANIES = count(1)


@settings(max_examples=200 if IS_THOROUGH else 12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(steps, min_size=1, max_size=14))
async def test_stock_is_what_the_model_says(world: World, done: list[Any]) -> None:
    world.company = await world.new_company(f"LAW{next(COMPANIES)}")
    store, model = await open_store(world), Model()
    for step in done:
        if step[0] == "order":
            await order(store, model, step)
            continue
        doing, change = asked(store, model, step)
        assert await holds(doing) == agrees(change), step
        for place, record in model.records.items():
            assert await store.parts(*place) == record.parts, step
        await store.is_right()
    exported = await store.export()
    assert (await store.count(exported.partition("\n")[2], exported.partition("\n")[0] + "\n")).updated == 0
