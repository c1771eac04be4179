"""The quantities that several lines reserve together, and the shortages of these lines."""

from wmsd.contract.field_errors import FieldError
from wmsd.warehouse.documents.document_reservations import Demand, shortages, sums
from wmsd.warehouse.stock.store import Place

HERE, THERE = Place(1, 1), Place(1, 2)


def test_lines_of_one_place_are_summed() -> None:
    lines = [Demand(HERE, 3), Demand(THERE, 5), Demand(None, 7), Demand(HERE, 4)]
    assert sums(lines) == {HERE: 7, THERE: 5}
    assert shortages(lines, {HERE: 7, THERE: 5}) == []


def test_each_line_of_a_place_that_has_too_little_is_told() -> None:
    lines = [Demand(HERE, 3_000_000), Demand(THERE, 5), Demand(None, 7), Demand(HERE, 4_000_000)]
    sentence = "is more than the available stock: 6.999999 available, 7 requested"
    assert shortages(lines, {HERE: 6_999_999, THERE: 5}) == [
        FieldError("INSUFFICIENT_STOCK", "lines.0.quantity", sentence),
        FieldError("INSUFFICIENT_STOCK", "lines.3.quantity", sentence),
    ]


def test_of_an_unknown_place_there_is_nothing() -> None:
    (error,) = shortages([Demand(HERE, 1)], {}, "items")
    assert error.path == "items.0.quantity"
    assert error.sentence == "is more than the available stock: 0 available, 0.000001 requested"
