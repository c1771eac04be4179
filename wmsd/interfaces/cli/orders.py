"""`wmsd sales-order`."""

import json
from typing import Any, get_args

import click

from wmsd.app.site import Site
from wmsd.base.problems import not_found
from wmsd.base.results import Record
from wmsd.base.validation import check
from wmsd.db.transaction import Transaction
from wmsd.directory import store as directory
from wmsd.interfaces.cli.company_data import company_database, company_option
from wmsd.interfaces.cli.installation import Installation, installed, json_option, note, say
from wmsd.sales_orders.actions import change
from wmsd.sales_orders.rules import MOVES, STATUSES, Status
from wmsd.sales_orders.schema import SalesOrderQuery
from wmsd.sales_orders.store import ORDERS

MOST_SHOWN = 200
NAMED_BY_CODE = {"partner": directory.PARTNERS, "client": directory.CLIENTS, "warehouse": directory.WAREHOUSES}


@click.group()
def sales_order_command() -> None:
    """List, show and move sales orders."""


@sales_order_command.command("list")
@company_option
@click.option("--status", "statuses", multiple=True, type=click.Choice(STATUSES), help="Only these; repeat it.")
@click.option("--partner", "partner", metavar="CODE", help="Only of this partner.")
@click.option("--page", type=click.IntRange(1, 10**9), default=1, show_default=True, help="From the oldest on.")
@click.option("--per-page", type=click.IntRange(1, MOST_SHOWN), default=50, show_default=True)
@json_option
@installed
def list_sales_orders(
    installation: Installation,
    code: str,
    statuses: tuple[str, ...],
    partner: str | None,
    page: int,
    per_page: int,
    as_json: bool,
) -> None:
    """List a company's sales orders."""

    def read(tx: Transaction) -> tuple[list[dict[str, Any]], int]:
        query: dict[str, object] = {"page": page, "per_page": per_page}
        if statuses:
            query["status"] = ",".join(statuses)
        if partner is not None:
            partner_id = directory.id_of_code(tx, directory.PARTNERS, partner)
            if partner_id is None:
                raise not_found("partner")
            query["partner_id"] = partner_id
        found = ORDERS.page(tx, check(SalesOrderQuery, query))
        partners = directory.codes_by_id(tx, directory.PARTNERS)
        return [_row(order, partners) for order in json.loads(f"[{found.records}]")], found.total

    async def work(site: Site) -> tuple[list[dict[str, Any]], int]:
        return await (await company_database(site, code)).read(read)

    orders, total = installation.run(work)
    say(orders, as_json, "No such order." if statuses or partner else "No order yet.")
    if orders and len(orders) < total and not as_json:
        note(f"{len(orders)} of {total}; page {page}. See --page.")


def _row(order: dict[str, Any], partners: dict[int, str]) -> dict[str, Any]:
    return {
        "code": order["code"],
        "status": order["status"],
        "partner": partners[order["partner_id"]],
        "lines": len(order["lines"]),
        "external_ref": order["external_ref"],
        "requested_date": order["requested_date"],
        "updated_at": order["updated_at"],
    }


@sales_order_command.command("show")
@click.argument("order", metavar="ORDER")
@company_option
@json_option
@installed
def show_sales_order(installation: Installation, order: str, code: str, as_json: bool) -> None:
    """Show the order with the code ORDER: its fields, its lines, and when it reached which status."""

    def read(tx: Transaction) -> dict[str, Any]:
        found = json.loads(_of_code(tx, order).json)
        return found if as_json else _with_codes(tx, found)

    async def work(site: Site) -> dict[str, Any]:
        return await (await company_database(site, code)).read(read)

    shown = installation.run(work)
    if as_json:
        say(shown, as_json)
        return
    history, lines = shown.pop("status_history"), shown.pop("lines")
    for part in (shown, lines, history):
        say(part, as_json)
        click.echo()


def _with_codes(tx: Transaction, order: dict[str, Any]) -> dict[str, Any]:
    """As people read it: partner, client and warehouses by their codes."""
    for name, kind in NAMED_BY_CODE.items():
        codes = directory.codes_by_id(tx, kind)
        for record in (order, *order["lines"]):
            if f"{name}_id" in record:
                record[name] = codes.get(record.pop(f"{name}_id"))
    return order


@sales_order_command.command("status")
@click.argument("order", metavar="ORDER")
@click.argument("status", type=click.Choice(get_args(Status)))
@company_option
@json_option
@installed
def move_sales_order(installation: Installation, order: str, status: Status, code: str, as_json: bool) -> None:
    """Move the order with the code ORDER to STATUS, by the rules that the API follows.

    From CREAT to IN_LUCRU, INCARCAT (the goods leave the stock) and LIVRAT; back by one step until INCARCAT; and
    to ANULAT before it is loaded.
    """

    def move(tx: Transaction) -> Record:
        return change(tx, _of_code(tx, order).id, {}, None, status)

    async def work(site: Site) -> Record:
        return await (await company_database(site, code)).write(move)

    moved = json.loads(installation.run(work).json)
    say({"code": moved["code"], "status": moved["status"], "next": MOVES.allowed_from(status)}, as_json)


def _of_code(tx: Transaction, code: str) -> Record:
    order_id = ORDERS.id_of_code(tx, code)
    if order_id is None:
        raise not_found("sales order")
    return ORDERS.one(tx, order_id)
