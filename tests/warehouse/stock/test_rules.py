"""The result of counting and adjusting the parts of a stock record, and the rules that forbid it. Pure functions
are tested.
"""

import pytest

from wmsd.base.quantity import MAXIMUM, SCALE
from wmsd.warehouse.stock.parts import UNNAMED, Amounts, Contents, PartKey, Parts
from wmsd.warehouse.stock.rules import (
    Change,
    Counted,
    Fault,
    count_parts,
    count_total,
    faults_of,
    only,
    part_changes,
)

LOT_A, LOT_B, S1, S2 = PartKey("A"), PartKey("B"), PartKey("A", "S1"), PartKey(None, "S2")


def there(quantity: float, quarantined: float = 0) -> Amounts:
    return Amounts(round(quantity * SCALE), round(quarantined * SCALE))


def contents(parts: Parts, reserved: float = 0, held: list[PartKey] | None = None, **lots: float) -> Contents:
    """Return the contents of a record; `lots` are the quantities of each lot that orders reserve."""
    reservations = {lot: round(amount * SCALE) for lot, amount in lots.items()}
    return Contents(dict(parts), round(reserved * SCALE), reservations, held or [])


MIXED = contents({LOT_A: there(5, 1), S1: there(1), UNNAMED: there(4, 2), S2: there(1, 1)})
"""A balance of 11, with 4 in quarantine."""


def test_changes_are_what_differs_in_the_order_of_the_parts() -> None:
    before = {LOT_A: there(5), LOT_B: there(3, 1), S1: there(1)}
    after = {UNNAMED: there(2), LOT_B: there(3), LOT_A: there(5)}
    assert part_changes(before, after) == [
        Change(LOT_B, there(3, 1), there(3)),
        Change(S1, there(1), there(0)),
        Change(UNNAMED, there(0), there(2)),
    ]
    assert part_changes(before, before) == []


def counted(before: Contents, *counts: tuple[PartKey, float, float | None]) -> tuple[Parts, list[Fault]]:
    """Return the parts after the count, and the faults."""
    faults: list[Fault] = []
    found = [
        Counted(goods, round(amount * SCALE), None if part is None else round(part * SCALE))
        for goods, amount, part in counts
    ]
    return count_parts(before, found, faults), faults


def test_the_parts_that_were_counted_are_all_that_is_there() -> None:
    after, faults = counted(MIXED, (LOT_A, 2, None), (S2, 1, 0), (LOT_B, 3, 0.5), (UNNAMED, 0, None))
    assert after == {LOT_A: there(2, 1), S2: there(1), LOT_B: there(3, 0.5)}
    assert faults == []


def test_a_count_below_what_is_in_quarantine_must_say_how_many_still_are() -> None:
    sentence = "is less than the quantity in quarantine (1): also enter the new quantity in quarantine"
    after, faults = counted(MIXED, (LOT_A, 0.5, None), (S1, 1, None))
    assert faults == [Fault(LOT_A, "quantity", sentence)]
    assert after == {LOT_A: there(0.5, 1), S1: there(1)}
    for amount, part in ((1, None), (0, None), (0.5, 0.5)):
        assert counted(MIXED, (LOT_A, amount, part), (S1, 1, None))[1] == []


def test_a_single_count_that_names_nothing_is_the_total() -> None:
    assert counted(MIXED, (UNNAMED, 12, None)) == ({**MIXED.parts, UNNAMED: there(5, 2)}, [])
    assert counted(MIXED, (UNNAMED, 12, 3)) == ({**MIXED.parts, UNNAMED: there(5, 1)}, [])
    assert counted(MIXED, (LOT_A, 6, None)) == ({LOT_A: there(6, 1)}, [])
    below = Fault(UNNAMED, "quantity", "must be at least 4, because this quantity is reserved or in quarantine")
    assert counted(MIXED, (UNNAMED, 3, None))[1] == [below]


def test_of_what_was_not_there_nothing_is_in_quarantine() -> None:
    assert counted(contents({}), (LOT_B, 3, None)) == ({LOT_B: there(3)}, [])


def totalled(
    before: Contents, lot_number: str | None, quantity: float, quarantined: float | None = None
) -> tuple[Parts, list[tuple[str, str]]]:
    """Return the parts after the count, and the column and the sentence of each fault."""
    faults: list[Fault] = []
    part = None if quarantined is None else round(quarantined * SCALE)
    after = count_total(before, lot_number, round(quantity * SCALE), part, faults)
    assert all(fault.goods == UNNAMED for fault in faults)
    return after, [(fault.column, fault.sentence) for fault in faults]


def test_what_has_the_fewest_names_makes_up_the_difference() -> None:
    assert totalled(MIXED, None, 9) == ({**MIXED.parts, UNNAMED: there(2, 2)}, [])
    assert totalled(MIXED, "A", 7.5) == ({**MIXED.parts, LOT_A: there(6.5, 1)}, [])
    assert totalled(MIXED, "B", 2, 1) == ({**MIXED.parts, LOT_B: there(2, 1)}, [])
    assert totalled(MIXED, "A", 1, 0) == ({S1: there(1), UNNAMED: there(4, 2), S2: there(1, 1)}, [])


UNNAMED_GOODS = "a lot or serial"


@pytest.mark.parametrize(
    ("lot_number", "quantity", "quarantined", "fault"),
    [
        (
            None,
            3.999999,
            None,
            ("quantity", "must be at least 4, because this quantity is reserved or in quarantine"),
        ),
        (None, 11, 12, ("quantity", "must be at least 12, because this quantity is reserved or in quarantine")),
        (
            None,
            11,
            1,
            (
                "quarantined",
                "is too low: 2 of the quarantined units have a lot or serial. Enter these lots or serials too",
            ),
        ),
        (
            None,
            8,
            None,
            (
                "quantity",
                (
                    f"would remove 3, but only 2 without {UNNAMED_GOODS} are in stock; for a "
                    "larger quantity, name the lots or serials"
                ),
            ),
        ),
        (
            "A",
            1,
            None,
            (
                "quantity",
                (
                    "would remove 5, but only 4 without a serial are in stock; for a larger "
                    "quantity, name the lots or serials"
                ),
            ),
        ),
    ],
)
def test_a_total_that_cannot_be(
    lot_number: str | None, quantity: float, quarantined: float | None, fault: tuple[str, str]
) -> None:
    assert totalled(MIXED, lot_number, quantity, quarantined)[1] == [fault]


def test_a_total_leaves_what_orders_hold() -> None:
    before = contents({LOT_A: there(5), UNNAMED: there(3)}, reserved=2, A=1)
    assert totalled(before, None, 5)[1] == []
    assert totalled(before, "A", 1)[1] == []
    for lot_number, held in ((None, 2), ("A", 1)):
        _, faults = totalled(before, lot_number, 0.5)
        assert faults == [
            ("quantity", f"must be at least {held}, because this quantity is reserved or in quarantine")
        ]
    assert totalled(before, "B", 0)[1] == [], "nothing is held of it"


def test_why_no_more_can_be_changed() -> None:
    plain = contents({UNNAMED: there(4)})
    assert only(plain, None, 3 * SCALE) == "only 3 are in stock"
    assert only(plain, None, 3 * SCALE, " and in quarantine") == "only 3 are in stock and in quarantine"
    assert only(MIXED, None, SCALE // 2) == (
        "only 0.5 without a lot or serial are in stock; for a larger quantity, name the lots or serials"
    )
    assert only(MIXED, "A", SCALE, " and free") == (
        "only 1 without a serial are in stock and free; for a larger quantity, name the lots or serials"
    )
    assert only(MIXED, "B", 0) == "only 0 are in stock"


def forbidden(
    before: Contents, after: Parts, tracks_serials: bool = True
) -> list[tuple[PartKey | None, str, str]]:
    return [*faults_of(before, after, tracks_serials)]


def test_serials_are_for_articles_that_are_tracked_by_them() -> None:
    sentence = "must be empty: the article is not tracked by serials"
    before = contents({S1: there(1)})
    assert forbidden(before, {S1: there(1, 1), S2: there(1)}, False) == [(S2, "serial", sentence)]
    assert forbidden(before, {}, False) == [], "one that was there may leave"
    assert forbidden(before, {S1: there(1), S2: there(1)}) == []


def test_what_is_tracked_by_serials_is_whole() -> None:
    sentence = "must be a whole number: the article is tracked by serials"
    after = {LOT_A: there(1.5, 1), LOT_B: there(2, 0.5), UNNAMED: there(3, 1)}
    assert forbidden(contents({}), after) == [(LOT_A, "quantity", sentence), (LOT_B, "quarantined", sentence)]
    assert forbidden(contents({}), after, False) == []
    assert forbidden(contents(after), after) == [], "what is not changed is not looked at"


def test_a_balance_has_a_largest() -> None:
    sentence = "would raise the stock balance above 999999999.999999"
    assert forbidden(contents({}), {UNNAMED: Amounts(MAXIMUM)}, False) == []
    after = {UNNAMED: Amounts(MAXIMUM - SCALE), LOT_A: Amounts(SCALE + 1)}
    assert forbidden(contents({}), after, False) == [(None, "quantity", sentence)]


def test_a_serial_that_an_order_holds_stays_where_and_as_it_is() -> None:
    sentence = (
        "S1 is reserved by an order: the serial must stay in stock, in the same lot, and must not enter or "
        "leave quarantine"
    )
    before = contents({S1: there(1), UNNAMED: there(4)}, reserved=1, held=[S1], A=1)
    for after in ({UNNAMED: there(4)}, {S1: there(1, 1)}, {PartKey("B", "S1"): there(1)}):
        assert forbidden(before, after) == [(S1, "serial", sentence)], "and nothing else is said"
    assert forbidden(before, {S1: there(1)}) == []


def test_a_lot_keeps_what_orders_hold_of_it() -> None:
    before = contents({LOT_A: there(5), S1: there(1), LOT_B: there(5)}, reserved=6, A=3, B=2)
    assert forbidden(before, {LOT_A: there(2), S1: there(1), LOT_B: there(3)}) == []
    after = {LOT_A: there(3, 1), S1: there(1, 1), LOT_B: there(1)}
    assert forbidden(before, after) == [
        (LOT_A, "quantity", "is not possible: only 2 of lot A would be left to sell, but orders have reserved 3"),
        (LOT_B, "quantity", "is not possible: only 1 of lot B would be left to sell, but orders have reserved 2"),
    ]
    assert forbidden(before, {LOT_A: there(9)}) == [
        (LOT_B, "quantity", "is not possible: only 0 of lot B would be left to sell, but orders have reserved 2")
    ]


def test_a_record_keeps_what_orders_hold_of_it() -> None:
    before = contents({UNNAMED: there(5), LOT_A: there(5)}, reserved=6)
    assert forbidden(before, {UNNAMED: there(5, 1), LOT_A: there(2)}) == []
    assert forbidden(before, {UNNAMED: there(5, 1), LOT_A: there(1.5)}, False) == [
        (None, "quantity", "is not possible: only 5.5 would be left to sell, but orders have reserved 6")
    ]
