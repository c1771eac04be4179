"""The command `wmsd packaging`."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

import click

from wmsd.base.problems import FieldErrors
from wmsd.contract import csv_cells
from wmsd.contract.list_queries import PageQuery
from wmsd.contract.results import Page
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, say, with_installation
from wmsd.interfaces.cli.kit.company_data import (
    company_option,
    options_of,
    paging_options,
    read_company,
    say_page,
    write_company,
)
from wmsd.interfaces.cli.kit.moments import moment_option
from wmsd.interfaces.cli.kit.references import DIRECTORY, with_codes
from wmsd.warehouse.directory import store as directory
from wmsd.warehouse.packaging import store
from wmsd.warehouse.packaging.actions import check_movement, record_by_hand
from wmsd.warehouse.packaging.schema import (
    Direction,
    PackagingBalancePageQuery,
    PackagingMovementFields,
    PackagingMovementPageQuery,
)
from wmsd.warehouse.similar_codes import no_such

Row = dict[str, Any]
BALANCE: Final = {
    "type": "packaging_type_code",
    "name": "packaging_type_name",
    "partner": "partner",
    "quantity": "quantity",
    "updated_at": "updated_at",
}
"""The printed columns of the list of balances. Each value is the field of a record that the column shows."""
MOVEMENT: Final = {
    "code": "code",
    "type": "packaging_type_code",
    "partner": "partner",
    "direction": "direction",
    "quantity": "quantity",
    "occurred_at": "occurred_at",
    "document_type": "document_type",
    "document_id": "document_id",
    "notes": "notes",
}
READ_QUANTITY: Final = csv_cells.typed_reader(PackagingMovementFields.model_fields["quantity"])


listing_options = options_of(
    company_option,
    click.option("--partner", "partner_code", metavar="CODE", help="Only of this partner."),
    click.option("--type", "type_code", metavar="CODE", help="Only of this packaging type."),
    *paging_options,
    json_option,
)


@click.group()
def packaging_command() -> None:
    """Record returnable packaging, and show who owes how much."""


@packaging_command.command("types")
@company_option
@json_option
@with_installation
def list_packaging_types(command_line: CommandLine, code: str, as_json: bool) -> None:
    """List a company's packaging types. `wmsd import packaging-types` creates and renames them."""

    def read(tx: Transaction) -> list[Row]:
        records = map(json.loads, directory.every(tx, store.TYPES))
        return [{"code": record["code"], "name": record["name"]} for record in records]

    empty = f"No packaging types yet. To import types: wmsd import packaging-types FILE.csv --company {code}"
    say(read_company(command_line, code, read), as_json, empty)


@packaging_command.command("balances")
@listing_options
@with_installation
def list_packaging_balances(command_line: CommandLine, /, **options: Any) -> None:
    """List how much packaging each partner and the company owe each other.

    A quantity above 0 is what the partner owes the company. A quantity below 0 is what the company owes the
    partner.
    """
    _list(command_line, PackagingBalancePageQuery, store.balances_page, BALANCE, "No balances found.", **options)


@packaging_command.command("movements")
@moment_option("--since", "Only movements from this time on")
@listing_options
@with_installation
def list_packaging_movements(command_line: CommandLine, /, **options: Any) -> None:
    """List the packaging that went out and came in, in the order in which it was recorded."""
    _list(
        command_line, PackagingMovementPageQuery, store.movements_page, MOVEMENT, "No movements found.", **options
    )


@packaging_command.command("record")
@company_option
@click.option("--type", "packaging_type_code", required=True, metavar="CODE", help="The packaging type.")
@click.option(
    "--partner",
    "partner_code",
    required=True,
    metavar="CODE",
    help="The partner who receives or returns the packaging.",
)
@click.option(
    "--direction",
    required=True,
    type=click.Choice(get_args(Direction)),
    help="OUT increases what the partner owes, IN decreases it.",
)
@click.option("--quantity", required=True, metavar="N", help="The quantity, greater than 0.")
@click.option(
    "--occurred-at",
    metavar="TIME",
    help="Date and time of the movement, such as 2026-11-20T08:00:00Z.  [default: now]",
)
@click.option("--notes", metavar="TEXT", help="A note to store with the movement.")
@json_option
@with_installation
def record_packaging(command_line: CommandLine, /, code: str, quantity: str, as_json: bool, **fields: Any) -> None:
    """Record packaging that went OUT to a partner or came IN.

    A recorded movement cannot be changed. To correct it, record a movement in the other direction.
    """

    def write(tx: Transaction) -> str:
        movement = check_movement(tx, *_with_number(fields, quantity))
        return store.recorded_data(tx, record_by_hand(tx, movement))

    recorded = json.loads(write_company(command_line, code, write))
    named = {"type": fields["packaging_type_code"], "partner": fields["partner_code"]}
    say({"code": recorded["code"], **named, "balance": recorded["balance"]}, as_json)


def _with_number(values: Row, quantity: str) -> tuple[Row, FieldErrors]:
    """Return the values with the quantity as a number. Also return the errors, if the text `quantity` is not a
    valid number.
    """
    try:
        return {**values, "quantity": READ_QUANTITY(quantity)}, {}
    except ValueError as error:
        return values, {"quantity": [str(error)]}


def _list(
    command_line: CommandLine,
    model: type[PageQuery],
    page_of: Callable[[Transaction, PageQuery], Page],
    columns: Mapping[str, str],
    empty: str,
    *,
    code: str,
    partner_code: str | None,
    type_code: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Print one page of a list. `page_of` reads the page, and `model` is the class of its query. `given` has the
    values of the query's fields.

    `columns` maps the name of each printed column to the field of the record.
    """

    def read(tx: Transaction) -> tuple[list[Row], int]:
        query = {name: value for name, value in given.items() if value is not None}
        if partner_code is not None:
            query["partner_id"] = _known(tx, directory.PARTNERS, partner_code)
        if type_code is not None:
            query["packaging_type_id"] = _known(tx, store.TYPES, type_code)
        found = page_of(tx, validate_model(model, query))
        records = with_codes(tx, DIRECTORY, json.loads(f"[{found.records}]"))
        return [{name: record[field] for name, field in columns.items()} for record in records], found.total

    rows, total = read_company(command_line, code, read)
    say_page(rows, total, given["page"], as_json, empty)


def _known(tx: Transaction, kind: directory.DirectoryKind, code: str) -> int:
    record_id = directory.id_of_code(tx, kind, code)
    if record_id is None:
        raise no_such(tx, kind.noun, kind.table, code)
    return record_id
