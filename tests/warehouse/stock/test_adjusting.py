"""Adjustment, quarantine and release: through the ledger, with a reason, and never below the reserved quantity."""

from typing import Any

import pytest

from tests.support.goods import EAST, LOTTED, MAIN, PLAIN, SERIAL, Store
from wmsd.base.problems import Problem

FULL = (
    "P,MAIN,,,10,2\nL,MAIN,L1,,5,\nL,MAIN,L2,,7.5,1\nL,MAIN,,,1,\n"
    "S,MAIN,X,S1,1,\nS,MAIN,X,S2,1,1\nS,MAIN,,S3,1,\nS,EAST,X,S4,1,\n"
)


@pytest.fixture
async def full(store: Store) -> Store:
    await store.count(FULL)
    return store


async def refused(store: Store, action: str, article: int, **values: Any) -> dict[str, list[str]]:
    """Return the errors of a refused action, and check that the action changes nothing."""
    before = await store.everything()
    with pytest.raises(Problem) as raised:
        await getattr(store, action)(article, **values)
    assert await store.everything() == before
    assert raised.value.status == 422
    return raised.value.errors


async def test_by_a_difference_and_to_a_quantity(full: Store) -> None:
    before = await full.world.last_event()
    await full.adjust(PLAIN, by=-8, reason="Broken glass")
    await full.adjust(PLAIN, to=3.000001, reason="Found")
    assert await full.balance(PLAIN) == (3.000001, 2, 1.000001)
    assert (await full.ledger())[-2:] == [
        ("adjustment", -8, 0, None, None, "Broken glass"),
        ("adjustment", 1.000001, 0, None, None, "Found"),
    ]
    assert [name for name, _ in await full.world.events_after(before)] == ["stock.updated", "stock.updated"]
    await full.is_right()


async def test_where_nothing_was_before(full: Store) -> None:
    await full.adjust(PLAIN, EAST, by=4)
    assert await full.balance(PLAIN, EAST) == (4, 0, 4)


async def test_to_what_it_is_already_moves_nothing(full: Store) -> None:
    before = await full.everything()
    await full.adjust(PLAIN, to=10)
    assert await full.everything() == before


async def test_a_lot_and_what_has_none(full: Store) -> None:
    await full.adjust(LOTTED, lot_number="L1", by=-5)
    await full.adjust(LOTTED, lot_number="L2", to=2.5)
    await full.adjust(LOTTED, lot_number="NEW", by=4)
    await full.adjust(LOTTED, by=2)
    assert await full.parts(LOTTED) == {
        ("L2", None): (2.5, 1),
        ("NEW", None): (4, 0),
        (None, None): (3, 0),
    }
    await full.adjust(LOTTED, to=7)
    assert (await full.parts(LOTTED))[None, None] == (0.5, 0)
    await full.is_right()


async def test_serials_are_added_and_removed(full: Store) -> None:
    await full.adjust(SERIAL, by=2, serials=["S8", "S9"], lot_number="X")
    await full.adjust(SERIAL, by=-3, serials=["S1", "S2", "S3"])
    assert await full.parts(SERIAL) == {("X", "S8"): (1, 0), ("X", "S9"): (1, 0)}
    await full.adjust(SERIAL, by=1, serials=["S1"])
    assert await full.balance(SERIAL) == (3, 0, 3)
    await full.is_right()


async def test_quarantine_and_release(full: Store) -> None:
    await full.quarantine(PLAIN, quantity=8)
    assert await full.balance(PLAIN) == (10, 10, 0)
    await full.release(PLAIN, quantity=0.5)
    assert await full.balance(PLAIN) == (10, 9.5, 0.5)
    await full.quarantine(LOTTED, lot_number="L1", quantity=5)
    await full.release(LOTTED, lot_number="L2", everything=True)
    assert await full.balance(LOTTED) == (13.5, 5, 8.5)
    await full.quarantine(SERIAL, serials=["S1"])
    await full.release(SERIAL, serials=["S2"], lot_number="X")
    assert await full.parts(SERIAL) == {("X", "S1"): (1, 1), ("X", "S2"): (1, 0), (None, "S3"): (1, 0)}
    assert [row[:5] for row in (await full.ledger())[-2:]] == [
        ("quarantine", 0, 1, "X", "S1"),
        ("release", 0, -1, "X", "S2"),
    ]
    await full.quarantine(SERIAL, everything=True)
    assert await full.balance(SERIAL) == (3, 3, 0)
    await full.is_right()


async def test_a_quarantined_serial_can_be_removed(full: Store) -> None:
    await full.adjust(SERIAL, by=-1, serials=["S2"])
    assert await full.balance(SERIAL) == (2, 0, 2)
    await full.is_right()


REFUSED: dict[str, tuple[str, int, dict[str, Any], dict[str, list[str]]]] = {
    "more than there is": (
        "adjust",
        PLAIN,
        {"by": -9},
        {"by": ["would remove 9, but only 8 are in stock and not in quarantine"]},
    ),
    "below quarantine": (
        "adjust",
        PLAIN,
        {"to": 1},
        {"to": ["must be at least 2, because this quantity is reserved or in quarantine"]},
    ),
    "too much": (
        "adjust",
        PLAIN,
        {"by": 999999999.999999},
        {"by": ["would raise the stock balance above 999999999.999999"]},
    ),
    "which lot": (
        "adjust",
        LOTTED,
        {"by": -2},
        {
            "by": [
                (
                    "would remove 2, but only 1 without a lot or serial are in stock; for a "
                    "larger quantity, name the lots or serials"
                )
            ]
        },
    ),
    "which lot, to": (
        "adjust",
        LOTTED,
        {"to": 10},
        {
            "to": [
                (
                    "would remove 3.5, but only 1 without a lot or serial are in stock; for a "
                    "larger quantity, name the lots or serials"
                )
            ]
        },
    ),
    "no such lot": (
        "adjust",
        LOTTED,
        {"lot_number": "L9", "by": -1},
        {"by": ["would remove 1, but only 0 are in stock"]},
    ),
    "half a unit": (
        "adjust",
        SERIAL,
        {"by": 0.5},
        {"by": ["must be a whole number: the article is tracked by serials"]},
    ),
    "which serial": (
        "adjust",
        SERIAL,
        {"by": -1, "lot_number": "X"},
        {
            "by": [
                (
                    "would remove 1, but only 0 without a serial are in stock; for a larger "
                    "quantity, name the lots or serials"
                )
            ]
        },
    ),
    "serials here and elsewhere": (
        "adjust",
        SERIAL,
        {"by": 2, "serials": ["S1", "S9"]},
        {"serials": ["S1 is in stock already"]},
    ),
    "a serial that is elsewhere": (
        "adjust",
        SERIAL,
        {"by": 2, "serials": ["S4", "S9"]},
        {"serials": ["S4 is in stock in EAST already"]},
    ),
    "serials that are not there": (
        "adjust",
        SERIAL,
        {"by": -3, "serials": ["S1", "S4", "S3"], "lot_number": "X"},
        {"serials": ["S4 is not in stock in this warehouse", "S3 does not belong to lot X"]},
    ),
    "serials of an article without": (
        "adjust",
        PLAIN,
        {"by": 1, "serials": ["S1"]},
        {"serials": ["must be empty: the article is not tracked by serials"]},
    ),
    "as many as serials": (
        "adjust",
        SERIAL,
        {"by": 2, "serials": ["S9"]},
        {"by": ["must be 1, the number of serials"]},
    ),
    "one serial twice": (
        "adjust",
        SERIAL,
        {"by": 2, "serials": ["S9", "S9"]},
        {"serials": ["contains the same serial twice"]},
    ),
    "serials and to": (
        "adjust",
        SERIAL,
        {"to": 1, "serials": ["S9"]},
        {"to": ["cannot be combined with serials: use the field `by` instead"]},
    ),
    "both": (
        "adjust",
        PLAIN,
        {"by": 1, "to": 1},
        {"by": ["is required if `to` is missing, and not allowed together with `to`: send only one of them"]},
    ),
    "neither": (
        "adjust",
        PLAIN,
        {},
        {"by": ["is required if `to` is missing, and not allowed together with `to`: send only one of them"]},
    ),
    "nothing": ("adjust", PLAIN, {"by": 0}, {"by": ["must not be 0"]}),
    "no reason": ("adjust", PLAIN, {"by": 1, "reason": ""}, {"reason": ["must have at least 1 character"]}),
    "a long reason": (
        "release",
        PLAIN,
        {"quantity": 1, "reason": "x" * 256},
        {"reason": ["must have at most 255 characters"]},
    ),
    "seven places": (
        "adjust",
        PLAIN,
        {"by": "-0.0000001"},
        {"by": ["must have at most 6 decimal places"]},
    ),
    "quarantine of more": (
        "quarantine",
        PLAIN,
        {"quantity": 9},
        {"quantity": ["is 9, but only 8 are in stock and not in quarantine"]},
    ),
    "quarantine of which": (
        "quarantine",
        SERIAL,
        {"quantity": 1},
        {
            "quantity": [
                (
                    "is 1, but only 0 without a lot or serial are in stock and not in "
                    "quarantine; for a larger quantity, name the lots or serials"
                )
            ]
        },
    ),
    "quarantined already": (
        "quarantine",
        SERIAL,
        {"serials": ["S2", "S9"]},
        {"serials": ["S9 is not in stock in this warehouse", "S2 is in quarantine already"]},
    ),
    "quarantine of nothing": (
        "quarantine",
        LOTTED,
        {"lot_number": "L9", "everything": True},
        {"everything": ["matches no goods in stock"]},
    ),
    "release of more": (
        "release",
        PLAIN,
        {"quantity": 3},
        {"quantity": ["is 3, but only 2 are in stock and in quarantine"]},
    ),
    "release of what is not": ("release", SERIAL, {"serials": ["S1"]}, {"serials": ["S1 is not in quarantine"]}),
    "release of nothing": (
        "release",
        PLAIN,
        {},
        {"quantity": ["is required if `serials` and `everything` are missing"]},
    ),
    "everything and some": (
        "release",
        PLAIN,
        {"everything": True, "quantity": 1},
        {"everything": ["cannot be combined with a quantity or serials"]},
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_cannot_be_is_refused_whole(full: Store, case: str) -> None:
    action, article, values, errors = REFUSED[case]
    assert await refused(full, action, article, **values) == errors


async def test_orders_keep_what_they_hold(full: Store) -> None:
    await full.order(PLAIN, 5)
    await full.order(LOTTED, 4, lot_number="L1")
    await full.order(SERIAL, 1, serials=["S1"])
    assert await refused(full, "adjust", PLAIN, by=-4) == {
        "by": ["is not possible: only 4 would be left to sell, but orders have reserved 5"]
    }
    assert await refused(full, "adjust", PLAIN, to=6) == {
        "to": ["must be at least 7, because this quantity is reserved or in quarantine"]
    }
    assert await refused(full, "quarantine", PLAIN, everything=True) == {
        "everything": ["is not possible: only 0 would be left to sell, but orders have reserved 5"]
    }
    assert await refused(full, "adjust", LOTTED, lot_number="L1", by=-2) == {
        "by": ["is not possible: only 3 of lot L1 would be left to sell, but orders have reserved 4"]
    }
    assert await refused(full, "quarantine", LOTTED, lot_number="L1", quantity=2) == {
        "quantity": ["is not possible: only 3 of lot L1 would be left to sell, but orders have reserved 4"]
    }
    held = {
        "serials": [
            "S1 is reserved by an order: the serial must stay in stock, in the same lot, and must not enter or "
            "leave quarantine"
        ]
    }
    assert await refused(full, "adjust", SERIAL, by=-1, serials=["S1"]) == held
    assert await refused(full, "quarantine", SERIAL, serials=["S1"]) == held
    await full.adjust(LOTTED, lot_number="L1", by=-1)
    await full.adjust(PLAIN, by=-3)
    assert await full.balance(PLAIN) == (7, 2, 0)
    await full.is_right()


async def test_what_is_quarantined_is_not_sold(full: Store) -> None:
    await full.quarantine(LOTTED, lot_number="L1", everything=True)
    order_id = await full.order(LOTTED, 7.5)
    assert (await full.world.send("POST", "/api/sales-orders", {"partner_id": 1, "warehouse_id": MAIN, "lines": [
        {"article_id": LOTTED, "quantity": 0.000001}
    ]})).status == 422  # fmt: skip
    await full.load(order_id)
    assert await full.parts(LOTTED) == {("L1", None): (5, 5), ("L2", None): (1, 1)}
    await full.is_right()
