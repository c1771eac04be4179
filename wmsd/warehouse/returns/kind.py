"""The declaration of returns as a kind of document."""

from typing import Final

from wmsd.contract.fields import Quantity
from wmsd.warehouse.documents.kind import DocumentKind, InFiles, Posting, Writing, one_at_a_time, one_by_one
from wmsd.warehouse.returns import actions
from wmsd.warehouse.returns.checks import CHECKS
from wmsd.warehouse.returns.return_posting import KIND
from wmsd.warehouse.returns.rules import FINAL, TRANSITIONS
from wmsd.warehouse.returns.schema import ReturnLineFields
from wmsd.warehouse.returns.store import RETURNS as TABLE


class LineInFile(ReturnLineFields):
    quantity: Quantity


RETURNS: Final = DocumentKind(
    table=TABLE,
    transitions=TRANSITIONS,
    listed=("code", "status", "partner", "sales_order", "lines", "external_ref", "updated_at"),
    reading=actions.READING,
    writing=Writing(
        actions.create_return,
        actions.replace_return,
        actions.update_return,
    ),
    change=actions.apply_return_change,
    in_files=InFiles(
        line=LineInFile,
        create=one_by_one(lambda tx, _, body: actions.create_return.action(tx, body)),
        move=one_at_a_time(actions.move),
    ),
    posting=Posting((KIND,), frozenset({FINAL}), amount="quantity + destroyed"),
    checks=CHECKS,
)
