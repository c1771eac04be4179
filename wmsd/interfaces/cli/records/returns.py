"""The command `wmsd return`."""

import json
from typing import Final

import click

from wmsd.base.problems import Problem, invalid
from wmsd.contract.results import Record
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.cli.records.document_commands import document_command
from wmsd.warehouse.returns.actions import apply_return_change
from wmsd.warehouse.returns.kind import RETURNS
from wmsd.warehouse.returns.rules import DISPOSITIONS, Disposition, Status
from wmsd.warehouse.returns.schema import ReturnLineFields
from wmsd.warehouse.returns.store import RETURNS as TABLE

FINAL: Final[Status] = "FINALIZAT"
disposition_option = click.option(
    "--disposition",
    type=click.Choice(tuple(DISPOSITIONS)),
    help=f"With the move to {FINAL}: the disposition of each line that has no disposition yet. RESTOC: "
    "back into stock; CARANTINA: into quarantine; DISTRUS: written off.",
)


def _move(tx: Transaction, return_id: int, status: Status, disposition: Disposition | None) -> Record:
    if disposition is None:
        return _without(tx, return_id, status)
    if status != FINAL:
        raise invalid({"--disposition": [f"is only for the move to {FINAL}"]})
    lines = json.loads(TABLE.one(tx, return_id).json)["lines"]
    undecided = [line["id"] for line in lines if line["disposition"] is None]
    sent = [validate_model(ReturnLineFields, {"id": line_id, "disposition": disposition}) for line_id in undecided]
    return apply_return_change(tx, return_id, {}, sent or None, status)


def _without(tx: Transaction, return_id: int, status: Status) -> Record:
    try:
        return apply_return_change(tx, return_id, {}, None, status)
    except Problem as problem:
        undecided = [path for path in problem.errors if path.endswith(".disposition")]
        if not undecided:
            raise
        sentence = f"is needed for {len(undecided)} lines of this return"
        raise invalid({"--disposition": [sentence]}) from None


return_command = document_command(RETURNS, _move, disposition_option)
