"""Reads a page of a list by cursor, although the company's history may have several epochs (decisions, section
11). A restore begins a new epoch.

If a cursor is from an earlier epoch, a list of current records starts from the beginning. So the client gets
everything that has changed. A list of history, such as events, refuses the cursor, because the server cannot know
which of the lost events the client has seen. The refusal contains a new cursor, which continues where the history
was cut.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wmsd.base.cursor import UNKNOWN, CursorSigner
from wmsd.base.problems import Problem, invalid, message_of
from wmsd.base.strict_json import dumps
from wmsd.contract.context import Company
from wmsd.contract.results import CursorPage
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql import epochs
from wmsd.db.sql.epochs import Cut, PlaceGone
from wmsd.dispatch.call import Call


def walk(
    tx: Transaction, call: Call, company: Company | None, inputs: Mapping[str, Any], signer: CursorSigner
) -> tuple[CursorPage, str]:
    """Return a page of a company's list, and the name of the company's current epoch.

    Raise Problem (422) if a list of history cannot continue at the requested position, because the history was cut
    after the client got its cursor.
    """
    assert company is not None
    operation, epoch = call.operation, epochs.current(tx)
    try:
        position = _position(tx, call, inputs["position"], epoch.name)
        page: CursorPage = operation.action(tx, **{**inputs, "position": position})
    except PlaceGone as error:
        filters = inputs["query"].filters()
        cursor = signer.sign(error.position, company.id, operation.name, filters, epoch.name, call.cursor_began)
        raise _refused(error, epoch.name, cursor) from None
    if operation.history is not None:
        beside = _beside(tx, operation.history, epoch.name, position, page.end_position)
        page = replace(page, beside=page.beside + beside)
    return page, epoch.name


def _position(tx: Transaction, call: Call, position: int, epoch: str) -> int:
    """Return the position at which the page begins. `epoch` is the company's current epoch.

    Raise PlaceGone if this is a list of history, and the history was cut after the client got its cursor.
    """
    if call.cursor_epoch in (None, epoch):
        return position
    history = call.operation.history
    if history is None:
        return 0
    assert call.cursor_epoch is not None
    cut = epochs.cut_after(tx, history, call.cursor_epoch)
    if cut is None:  # the file has no record of a restore, so a person has replaced it by hand
        raise invalid({"cursor": [UNKNOWN]})
    raise PlaceGone("cursor", cut, min(position, cut.last))


def _refused(error: PlaceGone, epoch: str, cursor: str) -> Problem:
    cut = error.cut.epoch
    errors = {
        error.parameter: [
            f"was issued before a restore: the company was restored at {cut.began_at}, and changes after "
            f"{cut.kept_up_to} are lost. Continue with the cursor in `details`"
        ]
    }
    details = {"epoch": epoch, "kept_up_to": cut.kept_up_to, "restored_at": cut.began_at, "cursor": cursor}
    return Problem("VALIDATION_FAILED", message_of(errors), errors=errors, details=details)


def _beside(tx: Transaction, history: str, epoch: str, after: int, until: int) -> str:
    """Return the end of the page's JSON text: the current epoch, and each cut of the history between the positions
    `after` and `until`.
    """
    inside = [_shown(cut) for cut in epochs.cuts(tx, history) if after < cut.next <= until]
    return f',"epoch":{dumps(epoch)},"cuts":{dumps(inside)}'


def _shown(cut: Cut) -> dict[str, object]:
    return {
        "epoch": cut.epoch.name,
        "reason": cut.epoch.reason,
        "kept_up_to": cut.epoch.kept_up_to,
        "restored_at": cut.epoch.began_at,
    }
