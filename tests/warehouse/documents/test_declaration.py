"""A declaration of a kind of document applies everywhere. A forgotten part is named, and the program does not
start.
"""

from dataclasses import replace
from typing import Annotated

import pytest
from pydantic import Field, create_model

from tests.support.world import World
from wmsd.contract.fields import OptionalLabel
from wmsd.contract.list_queries import QueryId
from wmsd.contract.route import Route
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.lists import conditions
from wmsd.interfaces.cli.records.document_commands import document_command
from wmsd.interfaces.openapi.document import openapi_document
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.document_lines import LineTable
from wmsd.warehouse.documents.file_rows import DocumentRows
from wmsd.warehouse.documents.kind import DocumentKind
from wmsd.warehouse.documents.operations import reading_operations
from wmsd.warehouse.sales_orders.kind import SALES_ORDERS
from wmsd.warehouse.sales_orders.schema import (
    SalesOrder,
    SalesOrderFields,
    SalesOrderLine,
    SalesOrderLineFields,
)

Urgency = Annotated[OptionalLabel, Field(description="How soon.")]


class UrgentFields(SalesOrderFields):
    urgency: Urgency = None


class UrgentChanges(UrgentFields, partial=True):
    pass


class Urgent(SalesOrder):
    urgency: OptionalLabel


LINE_OF_EACH = """
    INSERT INTO sales_order_lines (sales_order_id, position, article_id, quantity, warehouse_id)
    SELECT id, 0, 1, 1000000, 1 FROM sales_orders
"""
FILTERS = {"partner_id": QueryId, "client_id": QueryId, "urgency": str}
URGENT = replace(SALES_ORDERS.table, body=UrgentFields, shown=Urgent, filters=FILTERS)
READING = reading_operations(URGENT, tag="Sales orders", module="outbound", ability="sales-orders:read")
URGENT_ORDERS = replace(SALES_ORDERS, table=URGENT, reading=READING)


async def test_a_field_and_a_filter_are_declared_once(world: World) -> None:
    await world.import_csv("partners", "code,name,type\nP,First,CLIENT\n")
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    await world.import_csv("articles", "code,name,unit\nA,A,BUC\n")

    def work(tx: Transaction) -> tuple[list[str], list[int]]:
        tx.execute("ALTER TABLE sales_orders ADD COLUMN urgency TEXT")
        own = {"partner_id": 1, "warehouse_id": 1, "lines": [{"quantity": 1}]}
        bodies = [UrgentFields.model_validate({**own, "urgency": each}) for each in ("HIGH", "LOW")]
        ids = [URGENT.insert(tx, URGENT.replacement(body)) for body in bodies]
        changed = UrgentChanges.model_validate({"urgency": "URGENT"})
        current = URGENT.columns(tx, ids[0])
        URGENT.update(tx, ids[0], URGENT.merged(current, URGENT.patch(changed)))
        shown = [Urgent.model_validate_json(URGENT.one(tx, each).json).urgency or "" for each in ids]
        found = URGENT.page(tx, READING.page_query.model_validate({"urgency": "LOW"}))
        return shown, [ids.index(number) for number in ids if f'"id":{number},' in found.records]

    database = await world.database()
    shown, found = await database.write(work)
    assert shown == ["URGENT", "LOW"]
    assert found == [1]
    assert await database.write(exported) == ["URGENT", "LOW"]


def exported(tx: Transaction) -> list[str]:
    tx.execute(LINE_OF_EACH)
    return [row["urgency"] for row in DocumentRows(URGENT_ORDERS).exported(tx)]


def test_a_field_has_its_column_in_files() -> None:
    rows = DocumentRows(URGENT_ORDERS)
    assert set(rows.columns) - set(DocumentRows(SALES_ORDERS).columns) == {"urgency"}
    assert rows.required == DocumentRows(SALES_ORDERS).required


def test_a_field_and_a_filter_are_described() -> None:
    described = openapi_document("orders", "1", [Route("GET", "/orders", READING.by_page)])
    (shown,) = (each for name, each in described["components"]["schemas"].items() if name == "Urgent")
    parameters = {each["name"] for each in described["paths"]["/orders"]["get"]["parameters"] if "name" in each}
    assert "urgency" in shown["properties"]
    assert {"urgency", "client_id"} <= parameters


def test_a_filter_is_an_option_of_the_command() -> None:
    def options(kind: DocumentKind) -> set[str]:
        return {parameter.name or "" for parameter in document_command(kind).commands["list"].params}

    assert options(URGENT_ORDERS) - options(SALES_ORDERS) == {"field_client_id", "field_urgency"}


def test_a_field_that_is_not_shown_is_named() -> None:
    with pytest.raises(TypeError, match="UrgentFields sets fields that SalesOrder does not show: urgency"):
        replace(SALES_ORDERS.table, body=UrgentFields)


def test_a_condition_that_no_query_declares_is_named() -> None:
    with pytest.raises(TypeError, match="SalesOrderFilters declares no filter urgency"):
        conditions(SALES_ORDERS.table.query, urgency="urgency = :urgency")


def test_a_field_of_a_line_that_is_not_shown_is_named() -> None:
    with pytest.raises(TypeError, match="lines stores fields that SalesOrderLine does not show: urgency"):
        LineTable("lines", "sales_order_id", ("quantity", "urgency"), SalesOrderLine)


class UrgentLine(SalesOrderLineFields):
    urgency: Urgency = None


UrgentLines = create_model("UrgentLines", __base__=SalesOrderFields, lines=(list[UrgentLine], ...))


def test_a_field_of_a_line_that_is_not_stored_is_named() -> None:
    with pytest.raises(TypeError, match="UrgentLine sets fields that sales_order_lines does not store: urgency"):
        replace(SALES_ORDERS.table, body=UrgentLines)


@pytest.mark.parametrize("kind", DOCUMENTS, ids=lambda kind: kind.name)
async def test_every_field_has_its_column(world: World, kind: DocumentKind) -> None:
    def columns(tx: Transaction, table: str) -> set[str]:
        return {row[1] for row in tx.rows(f"PRAGMA table_info({table})")}

    table, database = kind.table, await world.database()
    assert {*table.fields, *table.filters, "status"} <= await database.read(lambda tx: columns(tx, table.name))
    assert set(table.line_table.fields) <= await database.read(lambda tx: columns(tx, table.line_table.name))


def test_a_column_of_the_command_that_no_record_has_is_named() -> None:
    with pytest.raises(TypeError, match="The list of sales orders names columns that do not exist: partners"):
        replace(SALES_ORDERS, listed=("code", "partner", "partners"))


def test_a_status_that_the_table_does_not_know_is_named() -> None:
    with pytest.raises(TypeError, match="Sales order names statuses that do not exist: SHIPPED"):
        replace(SALES_ORDERS, reserves_in=frozenset({"CREAT", "SHIPPED"}))
