"""The commands `list`, `show` and `status` of every kind of document, generated from the declaration of the kind.

`--packaging EUR=4` names the returnable packaging that goes out or comes in with a document.
"""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, Final

import click

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors, Problem, invalid
from wmsd.contract import csv_cells
from wmsd.contract.results import Record
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.cli.kit.command_line import CommandLine, note, say
from wmsd.interfaces.cli.kit.company_data import Option, company_option, write_company
from wmsd.interfaces.cli.kit.field_options import FieldOption, options_of_query
from wmsd.interfaces.cli.kit.references import ARTICLE, References, reference_to
from wmsd.interfaces.cli.records.record_commands import RecordKind, add_command, group_of_kind
from wmsd.warehouse.documents.document_packaging import WithPackaging
from wmsd.warehouse.documents.kind import DocumentKind
from wmsd.warehouse.documents.table import ARTICLE as BY_ARTICLE
from wmsd.warehouse.packaging.schema import PackagingLine

OF_STATUS: Final = "Only with this status; repeat the option for several."
OPTION: Final = "--packaging"
READ_NUMBER: Final = csv_cells.typed_reader(PackagingLine.model_fields["quantity"])
FORM: Final = "must be a packaging type and a number, such as EUR=4"


@dataclass(frozen=True)
class Documents(RecordKind):
    """A kind of document: records with lines, a status and a status history."""

    kind: DocumentKind

    @property
    def tables(self) -> tuple[str, ...]:
        return self.kind.transitions.lines, "status_history"

    @cached_property
    def references(self) -> References:
        return {f"{name}_id": reference_to(referred) for name, referred in self.kind.table.references.items()}

    @cached_property
    def filters(self) -> tuple[FieldOption, ...]:
        """The options that filter a list: first for the status, then for references, then all others.

        A new filter gets its option automatically.
        """
        status = {"type": "array", "items": {"enum": self.kind.table.statuses}, "description": OF_STATUS}
        query: Any = self.list.query
        of_article = [name for name in query.filter_names() if name == BY_ARTICLE]
        by_reference = [*(f"{name}_id" for name in self.kind.filters), *of_article]
        others = [name for name in query.filter_names() if name not in {"status", *by_reference}]
        return (
            FieldOption("status", None, status),
            *options_of_query(query, [*by_reference, *others], {**self.references, BY_ARTICLE: ARTICLE}),
        )


Move = Callable[..., Record]
"""A function that changes the status of a document.

The arguments are a transaction, the document's id, the new status, and further options by name.
"""


def document_command(kind: DocumentKind, move: Move | None = None, *options: Option) -> click.Group:
    """Return the group of commands for a kind of document. The command `status` calls `move` to change the status
    of a document, and has the additional `options`.
    """
    table, reading = kind.table, kind.reading
    documents = Documents(
        table.noun, table.name, table.id_of_code, reading.by_page, reading.one, kind.listed, kind
    )
    noun, argument = documents.noun, documents.argument
    move = move or (lambda tx, document_id, status: kind.change(tx, document_id, {}, None, status))
    group = group_of_kind(
        documents,
        f"List, show and move {noun}s.",
        f"Show the {noun} with the code {argument}: its fields, its lines, and when it reached each status.",
    )
    add_command(
        group,
        "status",
        f"Move the {noun} with the code {argument} to STATUS. These moves are allowed, as in the API:\n\n"
        f"\b\n{_moves_in_words(kind)}",
        partial(_move, documents=documents, move=move),
        click.argument("named", metavar=argument),
        click.argument("status", type=click.Choice(table.statuses)),
        company_option,
        *options,
    )
    return group


def _moves_in_words(kind: DocumentKind) -> str:
    rows = [
        f"{before} to {after}: {getattr(it, 'value', it)}"
        for (before, after), it in kind.transitions.table.items()
    ]
    return "\n".join(rows)


def _move(
    command_line: CommandLine,
    /,
    *,
    documents: Documents,
    move: Move,
    named: str,
    status: str,
    code: str,
    as_json: bool,
    **given: Any,
) -> None:
    def write(tx: Transaction) -> tuple[Record, Record]:
        before = documents.get.action(tx, documents.find(tx, named, code))
        return before, move(tx, before.id, status, **given)

    # a move may use the disk space that is reserved for moves
    before, after = write_company(command_line, code, write, needs_space=False)
    if before == after:
        note(f"{named} already was {status}. Nothing was changed.")
    say({"code": named, "status": status, "next": documents.kind.transitions.allowed_from(status)}, as_json)


def with_packaging(change: Callable[..., Record], where: str) -> tuple[Move, Option]:
    """Return two things for the command `status`: a function that changes the status of a document and records its
    packaging, and the option for the packaging.

    The returned function calls `change`. `where` completes the sentence "Returnable packaging that …" in the
    option's help.
    """

    def move(tx: Transaction, document_id: int, status: str, packaging: tuple[str, ...]) -> Record:
        try:
            return change(tx, document_id, {}, None, status, _read(packaging))
        except Problem as problem:
            if not problem.errors:
                raise
            errors = {_place(path, packaging): found for path, found in problem.errors.items()}
            raise invalid(errors) from None

    option = click.option(
        OPTION,
        multiple=True,
        metavar="CODE=N",
        help=f"Returnable packaging that {where}, such as EUR=4; repeat the option for several. `wmsd "
        "packaging types` lists the types.",
    )
    return move, option


def _read(given: tuple[str, ...]) -> list[PackagingLine] | None:
    """Return the packaging lines from the texts of the option. Raise Problem (422) with all errors if a text is
    invalid.
    """
    errors: FieldErrors = {}
    lines = [_line(text, f"packaging.{number}", errors) for number, text in enumerate(given)]
    return validate_model(WithPackaging, {"packaging": lines}, errors).packaging


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
    """Return the name of the field at `path` for errors, with its option: `packaging.0.quantity` becomes
    `--packaging EUR=x: quantity`.
    """
    name, _, rest = path.partition(".")
    if name != "packaging" or not rest:
        return path
    number, _, field = rest.partition(".")
    text = given[int(number)]
    names = {"": "", "packaging_type_code": f": {text.rpartition('=')[0]}"}
    return f"{OPTION} {text}{names.get(field, f': {field}')}"
