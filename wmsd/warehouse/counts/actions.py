"""The operations on counts."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from wmsd.contract.field_errors import FieldError, invalid_field, refuse_field_errors
from wmsd.contract.operation import operation
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.counts import store
from wmsd.warehouse.counts.count_entries import Entries, enter
from wmsd.warehouse.counts.count_ledger import Ledger
from wmsd.warehouse.counts.count_posting import book
from wmsd.warehouse.counts.rules import BEGUN, FINAL, TRANSITIONS, Effect, Row, Status
from wmsd.warehouse.counts.schema import (
    MAX_LINES,
    Count,
    CountChanges,
    CountFields,
    CountHead,
    CountLineFields,
    NewCount,
)
from wmsd.warehouse.counts.store import COUNT_LINES, COUNTS, StockOf
from wmsd.warehouse.documents.document_events import create_and_emit, move_and_emit, update_and_emit
from wmsd.warehouse.documents.document_references import (
    check_document,
    not_initial,
    references_of,
    sent_status,
)
from wmsd.warehouse.documents.operations import reading_operations
from wmsd.warehouse.documents.transitions import Step

READING: Final = reading_operations(COUNTS, tag="Counts", module="stock", ability="stock:read")
REFERENCES: Final = references_of(COUNTS)


def sent_references(tx: Transaction, sent: Mapping[str, Any], named: Mapping[str, Any]) -> Iterator[FieldError]:
    """Check the references in a body that also has malformed values. Yield the errors of the references.

    `sent` is the body, with null in place of each malformed value. Lines with an id are not checked, because such
    a line need not name its article.
    """
    lines = [None if line is None or line.get("id") is not None else line for line in sent.get("lines") or ()]
    yield from REFERENCES(tx, {**sent, "lines": lines}, named)


writing = partial(
    operation,
    tag="Counts",
    returns=Count,
    module="stock",
    ability="stock:count",
    answer="record",
    writes=True,
)
REFUSALS: Final = ("INVALID_WAREHOUSE", "INVALID_ARTICLE", "EXTERNAL_REF_TAKEN")
CHANGED: Final = ("count.updated", "count.status_changed")
BOOKED: Final = ("count.status_changed", "count.updated", "stock.updated", "stock.low")


@writing(
    creates=True,
    events=("count.created", "count.status_changed"),
    codes=REFUSALS,
    references=sent_references,
    is_search=True,
)
def create_count(tx: Transaction, body: NewCount) -> Record:
    """Create a count.

    The count lists the goods that `lines` name. If `lines` is not sent, the count lists everything in stock in the
    warehouse, or only the articles that match `article_search`. If a line already has its `counted_quantity`, the
    count starts with status IN_LUCRU.
    """
    if body.lines is None:
        return create_with_lines(tx, body, _list_of_stock(tx, body.warehouse_id, body.article_search))
    if body.article_search is not None:
        refuse_field_errors([invalid_field("article_search", "cannot be combined with lines")])
    return create_with_lines(tx, body, enter(tx, body.warehouse_id, body.lines, expands=True))


def create_with_lines(tx: Transaction, body: CountHead, entries: Entries, begins: bool = True) -> Record:
    """Create a count with the lines in `entries`. If a line has a counted quantity and `begins` is True, the count
    gets the status IN_LUCRU.
    """
    values = COUNTS.replacement(body)
    errors = [*not_initial(COUNTS, body.status), *check_document(tx, COUNTS, None, values, {}), *entries.errors]
    refuse_field_errors(errors)
    record = create_and_emit(tx, COUNTS, values, entries.rows)
    if not (begins and entries.are_counted):
        return record
    move_and_emit(tx, COUNTS, [record.id], COUNTS.initial, BEGUN)
    return COUNTS.one(tx, record.id)


def _list_of_stock(tx: Transaction, warehouse_id: int, article_search: str | None) -> Entries:
    found = StockOf.found_by(warehouse_id, article_search)
    number = 0 if found is None else store.number_of_records(tx, found)
    are_all = number <= MAX_LINES
    if found is not None and are_all:
        number = store.number_of_parts(tx, found)
    if found is None or not 0 < number <= MAX_LINES:
        path = "warehouse_id" if article_search is None else "article_search"
        return Entries([], [invalid_field(path, _no_list(number, are_all))], are_counted=False)
    rows: list[Row] = list(Ledger(tx, store.records_in(tx, found)).lines_of_all())
    return Entries(rows, [], are_counted=False)


def _no_list(number: int, are_all: bool) -> str:
    if not number:
        return "matches no goods in stock: enter the goods to count as lines"
    if are_all:
        return (
            f"matches {number} articles, lots and serials in stock, but a count has at most {MAX_LINES} "
            "lines: use a narrower article_search, or import the count from a file"
        )
    return (
        f"matches at least {number} articles in stock, but a count has at most {MAX_LINES} lines: use a "
        "narrower article_search, or import the count from a file"
    )


@writing(
    events=CHANGED,
    codes=("INVALID_STATUS", *REFUSALS),
    precondition=COUNTS.one,
    references=sent_references,
)
def replace_count(tx: Transaction, id: int, body: CountFields) -> Record:
    """Replace a count.

    A field that is not sent takes its default, but code and status stay as they are. Stored lines that are not
    sent are removed from the list. In a sent line, fields that are not sent keep their values. If the request
    changes nothing, nothing is written and no event is sent.
    """
    _refuse_booking(tx, id, sent_status(body))
    return apply_count_change(tx, id, COUNTS.replacement(body), body.lines, sent_status(body), replaces=True)


@writing(
    events=CHANGED,
    codes=("INVALID_STATUS", *REFUSALS),
    precondition=COUNTS.one,
    references=sent_references,
)
def update_count(tx: Transaction, id: int, body: CountChanges) -> Record:
    """Enter counted quantities, or change other fields or the status of a count.

    Lines that are not sent stay as they are. The first counted quantity moves the count to IN_LUCRU. If you found
    goods that are not on the list, send a new line without an id. To reach the status FINALIZAT, book the count.
    """
    _refuse_booking(tx, id, sent_status(body))
    return apply_count_change(tx, id, COUNTS.patch(body), body.lines, sent_status(body))


@writing(ability="stock:write", events=BOOKED, codes=("INVALID_STATUS",), precondition=COUNTS.one)
def book_count(tx: Transaction, id: int) -> Record:
    """Book the differences of a count.

    The `difference` of each counted line is added to stock. Movements that were recorded after the server received
    the counted quantity stay in effect. Lines that are not counted, or must be counted again, are not booked. If
    any other line cannot be booked, no line is booked.
    """
    return apply_count_change(tx, id, {}, None, FINAL)


def _refuse_booking(tx: Transaction, count_id: int, status: Status | None) -> None:
    current = COUNTS.columns(tx, count_id)["status"]
    if status == FINAL != current:
        sentence = (
            f"To move a count to {FINAL}, book its differences: POST /api/v2/counts/{count_id}/book, which "
            "needs stock:write."
        )
        raise TRANSITIONS.forbidden(sentence, current, FINAL)


def apply_count_change(
    tx: Transaction,
    count_id: int,
    given: Mapping[str, Any],
    sent_lines: Sequence[CountLineFields] | None = None,
    status: Status | None = None,
    *,
    replaces: bool = False,
) -> Record:
    """Change the fields, lines and status of a count, and return the count. If `replaces` is True, stored lines
    that are not sent are removed.

    If the current status allows a change of fields and lines, they change before the status. Otherwise they change
    after it.
    """
    current = COUNTS.columns(tx, count_id)
    values = COUNTS.merged(current, given)
    if values["warehouse_id"] != current["warehouse_id"]:
        other = invalid_field("warehouse_id", "cannot be changed: create a new count for the other warehouse")
        refuse_field_errors([*check_document(tx, COUNTS, count_id, values, current), other])
    before = COUNT_LINES.of(tx, count_id)
    entries = Entries(before, [], are_counted=False)
    if sent_lines is not None:
        entries = enter(tx, current["warehouse_id"], sent_lines, before, replaces=replaces)
    lines_differ = bool(entries.errors) or entries.rows != before
    wanted: Status = status or current["status"]
    if entries.are_counted and wanted == COUNTS.initial:
        wanted = BEGUN
    differing = COUNTS.differing(current, values, lines_differ)
    for step in TRANSITIONS.steps(current["status"], wanted, differing):
        match step:
            case Step.MOVE:
                move(tx, count_id, current["status"], wanted)
            case Step.CHANGE:
                refuse_field_errors([*check_document(tx, COUNTS, count_id, values, current), *entries.errors])
                update_and_emit(tx, COUNTS, count_id, values, entries.rows)
    return COUNTS.one(tx, count_id)


def move(tx: Transaction, count_id: int, current: Status, requested: Status) -> None:
    """Change the status of the count from `current` to `requested`. If this finishes the count, book its
    differences first. Raise Problem (409) if the change of status is not allowed.
    """
    if TRANSITIONS.effect(current, requested) is Effect.BOOK:
        book(tx, count_id)
    move_and_emit(tx, COUNTS, [count_id], current, requested)
