"""The declaration of counts as a kind of document."""

from typing import Any, Final

from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.counts import actions
from wmsd.warehouse.counts.checks import CHECKS
from wmsd.warehouse.counts.count_entries import enter
from wmsd.warehouse.counts.rules import FINAL, TRANSITIONS
from wmsd.warehouse.counts.schema import CountFields, CountLineFields
from wmsd.warehouse.counts.store import COUNTS as TABLE
from wmsd.warehouse.documents.kind import (
    Document,
    DocumentKind,
    InFiles,
    Posting,
    Writing,
    one_at_a_time,
    one_by_one,
)
from wmsd.warehouse.stock.counts import KIND


def _create(tx: Transaction, count: Document, body: CountFields) -> Record:
    """Create the count from a file. If the file gives a status, the count keeps the initial status for now: the
    import changes the status later.
    """
    entries = enter(tx, body.warehouse_id, body.lines)
    return actions.create_with_lines(tx, body, entries, begins=count.status in (None, TABLE.initial))


def _lines(_: Transaction, count: Document) -> list[Any]:
    """Return the lines of a count in a file. Fields whose cells are empty are left out.

    So an empty cell does not remove a counted quantity that is already stored.
    """
    return [CountLineFields.model_construct(None, **_said(line)) for line in count.lines or ()]


def _said(line: CountLineFields) -> dict[str, Any]:
    return {name: value for name in line.model_fields_set if (value := getattr(line, name)) is not None}


COUNTS: Final = DocumentKind(
    table=TABLE,
    transitions=TRANSITIONS,
    listed=("code", "status", "warehouse", "lines", "is_blind", "external_ref", "updated_at"),
    reading=actions.READING,
    writing=Writing(
        actions.create_count,
        actions.replace_count,
        actions.update_count,
        (actions.book_count,),
    ),
    change=actions.apply_count_change,
    in_files=InFiles(
        line=CountLineFields,
        create=one_by_one(_create),
        move=one_at_a_time(actions.move),
        lines_of=_lines,
        lines_are_replaced=False,
    ),
    posting=Posting((KIND,), frozenset({FINAL}), of_line="booked_quantity"),
    checks=CHECKS,
)
