"""`--packaging EUR=4`: the packaging that moves with a document."""

from collections.abc import Callable
from typing import Any, Final

import click

from wmsd.base.problems import FieldErrors, Problem, invalid
from wmsd.contract import csv_cells as cells
from wmsd.contract.results import Record
from wmsd.contract.validation import check
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.cli.records.document_commands import Move
from wmsd.warehouse.documents.document_packaging import WithPackaging
from wmsd.warehouse.packaging.schema import PackagingLine

OPTION: Final = "--packaging"
READ_NUMBER: Final = cells.typed_reader(PackagingLine.model_fields["quantity"])
FORM: Final = "must be a packaging type and how many, such as EUR=4"


def packaging_option(where: str) -> Callable[[Any], Any]:
    return click.option(
        OPTION,
        multiple=True,
        metavar="CODE=N",
        help=f"Returnable packaging that {where}, such as EUR=4; repeat it for several. `wmsd packaging types` "
        "lists the types.",
    )


def with_packaging(change: Callable[..., Record], where: str) -> Move:
    """The move of a document whose `change` takes packaging. `where` it goes is the end of the option's help."""

    def move(tx: Transaction, document_id: int, status: str, packaging: tuple[str, ...]) -> Record:
        try:
            return change(tx, document_id, {}, None, status, _read(packaging))
        except Problem as problem:
            if not problem.errors:
                raise
            errors = {_place(path, packaging): found for path, found in problem.errors.items()}
            raise invalid(errors) from None

    return Move(move, (packaging_option(where),))


def _read(given: tuple[str, ...]) -> list[PackagingLine] | None:
    """The lines of packaging. Raises Problem (422) with the errors of all of them."""
    errors: FieldErrors = {}
    lines = [_line(text, f"packaging.{number}", errors) for number, text in enumerate(given)]
    return check(WithPackaging, {"packaging": lines}, errors).packaging


def _line(text: str, path: str, errors: FieldErrors) -> dict[str, object]:
    code, _, quantity = text.rpartition("=")
    if not code:
        errors[path] = [FORM]
        return {}
    try:
        return {"packaging_type_code": code, "quantity": READ_NUMBER(quantity)}
    except ValueError as error:
        errors[f"{path}.quantity"] = [str(error)]
        return {"packaging_type_code": code}


def _place(path: str, given: tuple[str, ...]) -> str:
    """A field of a request as an option: `packaging.0.quantity` is the quantity of `--packaging EUR=x`."""
    name, _, rest = path.partition(".")
    if name != "packaging":
        return path
    if not rest:
        return OPTION
    number, _, field = rest.partition(".")
    text = given[int(number)]
    names = {"": "", "packaging_type_code": f": {text.rpartition('=')[0]}"}
    return f"{OPTION} {text}{names.get(field, f': {field}')}"
