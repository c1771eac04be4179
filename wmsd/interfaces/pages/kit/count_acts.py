"""Actions on the lines of counts: enter quantities, add goods, book the differences."""

from collections.abc import Mapping
from typing import Any, Final

from wmsd.interfaces.pages.kit.acts import Act
from wmsd.warehouse.counts import actions as counts
from wmsd.warehouse.counts.rules import OPEN
from wmsd.warehouse.counts.schema import CountChanges, CountLineFields


def _needs_a_number(line: Mapping[str, Any]) -> bool:
    return line["counted_quantity"] is None or bool(line["count_again"])


def _needs_numbers(count: Mapping[str, Any]) -> int:
    """Return how many lines of a count need a quantity."""
    return sum(_needs_a_number(line) for line in count["lines"])


def _stays_open(count: Mapping[str, Any]) -> bool:
    return any(line["booked_quantity"] is None for line in count["lines"])


def _changes_stock(line: Mapping[str, Any]) -> bool:
    """Return True if booking the count changes the stock of this line, or if booking skips the line. Booking skips
    a line that has no counted quantity or must be counted again.
    """
    return _needs_a_number(line) or bool(line["difference"])


COUNT_ALONE: Final = frozenset(CountChanges.model_fields) - {"lines"}
"""The fields of a count without its lines."""
NOT_ENTERED: Final = frozenset(
    f"lines.{name}"
    for name in CountLineFields.model_fields
    if name not in ("id", "article_id", "article_code", "lot_number", "serial", "counted_quantity")
)
GOODS: Final = frozenset({"lines.article_code", "lines.lot_number", "lines.serial", "lines.expected_quantity"})
COUNT_ACTS: Final = (
    Act(
        "enter",
        "Enter quantities",
        counts.update_count,
        "Enter the quantity of each line, or 0 if no goods are there. Lines that you leave empty do not change.",
        "The quantities are entered.",
        changes=True,
        without=COUNT_ALONE | (NOT_ENTERED - GOODS),
        shown=lambda _: GOODS,
        statuses=OPEN,
        next_in=OPEN,
        next_if=lambda count: _needs_numbers(count) > 0,
        left=_needs_numbers,
        merges=True,
        begins_empty=frozenset({"counted_quantity"}),
        tells_when_shown=True,
    ),
    Act(
        "found",
        "Add goods",
        counts.update_count,
        "Add goods that you found in the warehouse, but that are not on the list of this count.",
        "The goods are on the list.",
        without=COUNT_ALONE | NOT_ENTERED | {"lines.id"},
        statuses=OPEN,
        merges=True,
        tells_when_shown=True,
    ),
    Act(
        "book",
        "Book differences",
        counts.book_count,
        (
            "wmsd changes the stock by these differences, and finishes the count. Lines without a counted "
            "quantity, and lines that must be counted again, do not change the stock. You cannot change a "
            "finished count."
        ),
        "The count is finished, and the stock is corrected.",
        is_final=True,
        statuses=frozenset({"IN_LUCRU"}),
        next_in=frozenset({"IN_LUCRU"}),
        next_if=lambda count: not _needs_numbers(count),
        only_if=lambda count: any(not _needs_a_number(line) for line in count["lines"]),
        shows=(
            ("article_id", "lot_number", "serial", "counted_quantity", "difference", "count_again"),
            _changes_stock,
        ),
    ),
    Act(
        "again",
        "Count the rest",
        counts.create_count,
        statuses=frozenset({"FINALIZAT"}),
        only_if=_stays_open,
        leads_to="counts/new?count={id}",
    ),
)
