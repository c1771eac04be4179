"""The operations on returns."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from wmsd.contract.field_errors import FieldError, refuse_field_errors
from wmsd.contract.operation import operation
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.document_events import create_and_emit, move_and_emit, update_and_emit
from wmsd.warehouse.documents.document_references import not_initial, sent_status
from wmsd.warehouse.documents.operations import reading_operations
from wmsd.warehouse.documents.transitions import Step
from wmsd.warehouse.returns.return_posting import post_return
from wmsd.warehouse.returns.return_validation import DISPOSITION, check_return, find_lines, sent_errors
from wmsd.warehouse.returns.rules import TRANSITIONS, Effect, Status
from wmsd.warehouse.returns.schema import Return, ReturnChanges, ReturnFields, ReturnLineFields
from wmsd.warehouse.returns.store import RETURN_LINES, RETURNS

READING: Final = reading_operations(RETURNS, tag="Returns", module="returns", ability="returns:read")
writing = partial(
    operation,
    tag="Returns",
    returns=Return,
    module="returns",
    ability="returns:write",
    answer="record",
    writes=True,
    references=sent_errors,
)
REFUSALS: Final = ("INVALID_PARTNER", "INVALID_WAREHOUSE", "INVALID_ARTICLE", "EXTERNAL_REF_TAKEN")
CHANGED: Final = ("return.updated", "return.status_changed", "stock.updated")


@writing(creates=True, events=("return.created",), codes=("INVALID_STATUS", *REFUSALS))
def create_return(tx: Transaction, body: ReturnFields) -> Record:
    """Create a return.

    With a `sales_order_id`, the order must be loaded or delivered. All returns of the order together must not
    contain more goods than it shipped. Cancelled returns are not counted.
    """
    values = RETURNS.replacement(body)
    errors: list[FieldError] = not_initial(RETURNS, body.status)
    rows = find_lines(tx, body.lines, [], errors)
    refuse_field_errors([*errors, *check_return(tx, None, values, {}, rows)])
    return create_and_emit(tx, RETURNS, values, rows)


@writing(events=CHANGED, codes=("INVALID_STATUS", *REFUSALS), precondition=RETURNS.one)
def replace_return(tx: Transaction, id: int, body: ReturnFields) -> Record:
    """Replace a return.

    A field that is not sent takes its default, but code and status stay as they are. Lines can change only in
    status CREAT. Dispositions and other fields can change until the status is FINALIZAT or ANULAT. If nothing
    differs, nothing is written and no event is sent.
    """
    return apply_return_change(tx, id, RETURNS.replacement(body), body.lines, sent_status(body))


@writing(events=CHANGED, codes=("INVALID_STATUS", *REFUSALS), precondition=RETURNS.one)
def update_return(tx: Transaction, id: int, body: ReturnChanges) -> Record:
    """Change some fields of a return, its dispositions or its status.

    Usually `lines` replaces all lines. But if each sent line has only its `id` and its `disposition`, only these
    dispositions change. For FINALIZAT, each line needs a disposition: RESTOC puts the goods back into stock,
    CARANTINA puts them into quarantine, DISTRUS writes them off.
    """
    return apply_return_change(tx, id, RETURNS.patch(body), body.lines, sent_status(body))


def apply_return_change(
    tx: Transaction,
    return_id: int,
    given: Mapping[str, Any],
    sent_lines: list[ReturnLineFields] | None = None,
    status: Status | None = None,
) -> Record:
    """Change the fields, lines and status of a return, and return its record.

    If fields and lines can change in the current status, they change before the status. Otherwise the status
    changes first.
    """
    current = RETURNS.columns(tx, return_id)
    values = RETURNS.merged(current, given)
    before = RETURN_LINES.of(tx, return_id)
    errors: list[FieldError] = []
    rows = before if sent_lines is None else find_lines(tx, sent_lines, before, errors)
    lines_differ = RETURN_LINES.contents(rows, DISPOSITION) != RETURN_LINES.contents(before, DISPOSITION)
    if not lines_differ:  # the same lines as before: keep their ids
        rows = [{**row, "disposition": sent["disposition"]} for row, sent in zip(before, rows, strict=True)]
    differing = RETURNS.differing(current, values, lines_differ)
    if not lines_differ and (rows != before or errors):
        differing += DISPOSITION
    for step in TRANSITIONS.steps(current["status"], status or current["status"], differing):
        match step:
            case Step.MOVE:
                move(tx, return_id, current["status"], status or current["status"])
            case Step.CHANGE:
                refuse_field_errors([*errors, *check_return(tx, return_id, values, current, rows)])
                update_and_emit(tx, RETURNS, return_id, values, rows)
    return RETURNS.one(tx, return_id)


def move(tx: Transaction, return_id: int, current: Status, requested: Status) -> None:
    """Change the status of the return, with all effects on stock. Raise Problem (409) if the change of status is
    not allowed.
    """
    if TRANSITIONS.effect(current, requested) is Effect.POST:
        post_return(tx, return_id)
    move_and_emit(tx, RETURNS, [return_id], current, requested)
