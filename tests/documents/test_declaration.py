"""What a kind of document declares once is there everywhere; what is forgotten is named, and nothing starts."""

from dataclasses import replace
from typing import Annotated

import pytest
from pydantic import Field

from tests.support.world import World
from wmsd.base.fields import OptionalLabel
from wmsd.base.listing import PageQuery
from wmsd.db.listing import conditions
from wmsd.db.transaction import Transaction
from wmsd.documents.table import DocumentTable
from wmsd.purchase_orders.store import ORDERS as PURCHASE_ORDERS
from wmsd.receptions.store import RECEPTIONS
from wmsd.returns.store import RETURNS
from wmsd.sales_orders.schema import SalesOrder, SalesOrderFields, SalesOrderFilters
from wmsd.sales_orders.store import ORDERS as SALES_ORDERS

KINDS = (SALES_ORDERS, PURCHASE_ORDERS, RECEPTIONS, RETURNS)
Priority = Annotated[OptionalLabel, Field(description="How soon.")]


class UrgentFields(SalesOrderFields):
    priority: Priority = None


class UrgentChanges(UrgentFields, partial=True):
    pass


class Urgent(SalesOrder):
    priority: OptionalLabel


class UrgentFilters(SalesOrderFilters):
    priority: str | None = None


class UrgentQuery(UrgentFilters, PageQuery):
    pass


URGENT = replace(SALES_ORDERS, body=UrgentFields, shown=Urgent, filters=UrgentFilters)


async def test_a_field_and_a_filter_are_declared_once(world: World) -> None:
    await world.import_csv("partners", "code,name,type\nP,First,CLIENT\n")
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")

    def work(tx: Transaction) -> tuple[list[str], list[int]]:
        tx.execute("ALTER TABLE sales_orders ADD COLUMN priority TEXT")
        own = {"partner_id": 1, "warehouse_id": 1, "lines": [{"quantity": 1}]}
        bodies = [UrgentFields.model_validate({**own, "priority": each}) for each in ("HIGH", "LOW")]
        ids = [URGENT.insert(tx, URGENT.whole(body)) for body in bodies]
        changed = UrgentChanges.model_validate({"priority": "URGENT"})
        current = URGENT.columns(tx, ids[0])
        URGENT.update(tx, ids[0], URGENT.laid_over(current, URGENT.given(changed)))
        shown = [Urgent.model_validate_json(URGENT.one(tx, each).json).priority or "" for each in ids]
        found = URGENT.page(tx, UrgentQuery.model_validate({"priority": "LOW"}))
        return shown, [ids.index(number) for number in ids if f'"id":{number},' in found.records]

    shown, found = await (await world.database()).write(work)
    assert shown == ["URGENT", "LOW"]
    assert found == [1]


def test_a_field_that_is_not_shown_is_named() -> None:
    with pytest.raises(TypeError, match="UrgentFields can set what SalesOrder does not show: priority"):
        replace(SALES_ORDERS, body=UrgentFields)


def test_a_condition_that_no_query_declares_is_named() -> None:
    with pytest.raises(TypeError, match="SalesOrderFilters declares no filter priority"):
        conditions(SalesOrderFilters, priority="priority = :priority")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
async def test_every_field_has_its_column(world: World, kind: DocumentTable) -> None:
    def columns(tx: Transaction) -> set[str]:
        return {row[1] for row in tx.rows(f"PRAGMA table_info({kind.name})")}

    assert {*kind.fields, "status"} <= await (await world.database()).read(columns)
