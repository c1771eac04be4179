"""The commands of every kind of document, `list`, `show` and `status`, made from the declaration of the kind.

`--packaging EUR=4` names the returnable packaging that moves with a document.
"""

import json
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Final

import click

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors, Problem, invalid
from wmsd.contract import csv_cells
from wmsd.contract.results import Record
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.company_data import (
    Options,
    company_option,
    database_to_change,
    options_of,
    paging_options,
    read_company,
    say_page,
)
from wmsd.interfaces.cli.kit.field_options import FieldOption, options_of_query, values_of_options
from wmsd.interfaces.cli.kit.operations import not_there
from wmsd.interfaces.cli.kit.record_kind import named_by_options
from wmsd.warehouse.directory import store as directory
from wmsd.warehouse.directory.store import DirectoryKind
from wmsd.warehouse.documents.document_packaging import WithPackaging
from wmsd.warehouse.documents.file_codes import Referred
from wmsd.warehouse.documents.kind import DocumentKind
from wmsd.warehouse.documents.table import DocumentTable
from wmsd.warehouse.packaging.schema import PackagingLine

Row = dict[str, Any]
OPTION: Final = "--packaging"
READ_NUMBER: Final = csv_cells.typed_reader(PackagingLine.model_fields["quantity"])
FORM: Final = "must be a packaging type and how many, such as EUR=4"


@dataclass(frozen=True)
class Reference:
    """Records that documents refer to by id and people by code. `listed_by` is the command that lists them."""

    noun: str
    table: str
    listed_by: str
    find: Callable[[Transaction, str], int | None]
    codes: Callable[[Transaction, Collection[int]], Mapping[int, str]]

    def id_of(self, tx: Transaction, code: str, company: str) -> int:
        """The id of the record with this code. Raises Problem (404) that names the command to list the records."""
        found = self.find(tx, code)
        if found is None:
            lists = f"{self.listed_by} --company {company}"
            raise Problem("NOT_FOUND", not_there(tx, self.noun, self.table, code, lists))
        return found


def _reference(kind: Referred) -> Reference:
    return _document(kind) if isinstance(kind, DocumentTable) else _record(kind)


def _record(kind: DirectoryKind) -> Reference:
    return Reference(
        noun=kind.noun,
        table=kind.table,
        listed_by=f"export {kind.table}",
        find=lambda tx, code: directory.id_of_code(tx, kind, code),
        codes=lambda tx, _: directory.codes_by_id(tx, kind),
    )


def _document(table: DocumentTable) -> Reference:
    return Reference(
        noun=table.noun,
        table=table.name,
        listed_by=f"{_option(table.noun)} list",
        find=table.id_of_code,
        codes=lambda tx, ids: {record_id: table.columns(tx, record_id)["code"] for record_id in ids},
    )


@dataclass(frozen=True)
class Move:
    """Moves a document: `call` takes a transaction, the document's id, its new status, and these options."""

    call: Callable[..., Record]
    options: Options = ()


def moved_by(change: Callable[..., Record]) -> Callable[..., Record]:
    """The move of a document by `change`, which changes nothing but the status here."""
    return lambda tx, document_id, status: change(tx, document_id, {}, None, status)


def document_command(kind: DocumentKind, move: Move | None = None) -> click.Group:
    noun, argument = kind.table.noun, kind.table.noun.split()[-1].upper()
    move = move or Move(moved_by(kind.change))
    group = click.Group(help=f"List, show and move {noun}s.")

    def add(name: str, does: str, action: Callable[..., None], *options: Callable[[Any], Any]) -> None:
        command = options_of(*options, json_option)(with_installation(partial(action, kind=kind)))
        group.command(name, help=does)(command)

    document = click.argument("document", metavar=argument)
    status = click.Choice(kind.table.statuses)
    add(
        "list",
        f"List a company's {noun}s.",
        _list,
        company_option,
        click.option(
            "--status",
            "statuses",
            multiple=True,
            type=status,
            help="Only with this status; repeat it for several.",
        ),
        *(_filter(name, _reference(kind.table.references[name])) for name in kind.filters),
        *(each.decorator() for each in _plain_filters(kind)),
        *paging_options,
    )
    add(
        "show",
        f"Show the {noun} with the code {argument}: its fields, its lines, and when it reached each status.",
        _show,
        document,
        company_option,
    )
    add(
        "status",
        f"Move the {noun} with the code {argument} to STATUS. These moves are allowed, as in the API:\n\n"
        f"\b\n{_moves_in_words(kind)}",
        partial(_move, move=move.call),
        document,
        click.argument("status", type=status),
        company_option,
        *move.options,
    )
    return group


def _moves_in_words(kind: DocumentKind) -> str:
    rows = [
        f"{before} to {after}: {getattr(it, 'value', it)}"
        for (before, after), it in kind.transitions.table.items()
    ]
    return "\n".join(rows)


def _option(name: str) -> str:
    return name.replace(" ", "-").replace("_", "-")


def _filter(name: str, reference: Reference) -> Callable[[Any], Any]:
    return click.option(f"--{_option(name)}", name, metavar="CODE", help=f"Only of this {reference.noun}.")


def _plain_filters(kind: DocumentKind) -> tuple[FieldOption, ...]:
    """The filters of the operation that are no references and no status: a new one appears by itself."""
    others = {"status", *(f"{name}_id" for name in kind.filters)}
    query: Any = kind.reading.page_query
    return options_of_query(query, [name for name in query.filter_names() if name not in others])


def _list(
    command_line: CommandLine,
    /,
    *,
    kind: DocumentKind,
    code: str,
    statuses: tuple[str, ...],
    page: int,
    per_page: int,
    as_json: bool,
    **filters: Any,
) -> None:
    plain, _ = values_of_options(_plain_filters(kind), filters)

    def read(tx: Transaction) -> tuple[list[Row], int]:
        query: dict[str, object] = {**plain, "page": page, "per_page": per_page}
        if statuses:
            query["status"] = ",".join(statuses)
        for name in kind.filters:
            if (given := filters[name]) is not None:
                query[f"{name}_id"] = _reference(kind.table.references[name]).id_of(tx, given, code)
        with named_by_options(_plain_filters(kind)):
            found = kind.table.page(tx, validate_model(kind.reading.page_query, query))
        records = _with_codes(tx, kind, json.loads(f"[{found.records}]"))
        return [{name: _cell(record[name]) for name in kind.listed} for record in records], found.total

    rows, total = read_company(command_line, code, read)
    is_filtered = bool(statuses or any(filters.values()))
    say_page(
        rows, total, page, as_json, f"No such {kind.table.noun}." if is_filtered else f"No {kind.table.noun} yet."
    )


def _cell(value: Any) -> Any:
    return len(value) if isinstance(value, list) else value


def _show(command_line: CommandLine, /, *, kind: DocumentKind, document: str, code: str, as_json: bool) -> None:
    def read(tx: Transaction) -> list[Any]:
        found = json.loads(_find(tx, kind, document, code).json)
        if as_json:
            return [found]
        (record,) = _with_codes(tx, kind, [found])
        lines, history = record.pop(kind.transitions.lines), record.pop("status_history")
        return [record, _with_codes(tx, kind, lines), history]

    first, *others = read_company(command_line, code, read)
    say(first, as_json)
    for part in others:
        click.echo()
        say(part, as_json)


def _with_codes(tx: Transaction, kind: DocumentKind, records: list[Row]) -> list[Row]:
    """The records for people: each reference by its code, and articles without their ids."""
    for name, referred in kind.table.references.items():
        reference = _reference(referred)
        field = f"{name}_id"
        ids = {record[field] for record in records if record.get(field) is not None}
        codes = reference.codes(tx, ids) if ids else {}
        records = [
            {
                name if own == field else own: codes.get(value) if own == field else value
                for own, value in each.items()
            }
            for each in records
        ]
    return [{own: value for own, value in each.items() if own != "article_id"} for each in records]


def _move(
    command_line: CommandLine,
    /,
    *,
    kind: DocumentKind,
    move: Callable[..., Record],
    document: str,
    status: str,
    code: str,
    as_json: bool,
    **given: Any,
) -> None:
    def write(tx: Transaction) -> tuple[Record, Record]:
        before = _find(tx, kind, document, code)
        return before, move(tx, before.id, status, **given)

    async def work(installation: Installation) -> tuple[Record, Record]:
        return await (await database_to_change(installation, code)).write(write)

    before, after = command_line.run(work)
    if before == after:
        note(f"{document} was {status} already: nothing was changed.")
    say({"code": document, "status": status, "next": kind.transitions.allowed_from(status)}, as_json)


def _find(tx: Transaction, kind: DocumentKind, document: str, company: str) -> Record:
    return kind.table.one(tx, _document(kind.table).id_of(tx, document, company))


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
