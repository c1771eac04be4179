"""A company whose articles have lots and serials."""

import io
from decimal import Decimal
from functools import partial
from typing import Any

from tests.support.world import World
from wmsd.contract.bulk_imports import ImportRefused
from wmsd.contract.validation import validate_model
from wmsd.imports.file_kinds import KINDS, export_csv, import_csv
from wmsd.maintenance.file_checks.company_checks import examine
from wmsd.warehouse.stock import adjustments
from wmsd.warehouse.stock.counts import CountOutcome
from wmsd.warehouse.stock.parts import contents_of
from wmsd.warehouse.stock.schema import Adjustment, Quarantining

PLAIN, LOTTED, SERIAL = 1, 2, 3
MAIN, EAST = 1, 2
HEADER = "article_code,warehouse_code,lot_number,serial,quantity,quarantined\n"
Parts = dict[tuple[str | None, str | None], tuple[float, float]]
"""The quantity in stock and the quarantined quantity, by lot and serial."""


class Store:
    """A company without stock.

    The articles P (plain), L (lots) and S (lots and serials) have the ids 1, 2 and 3. The warehouses are 1 (MAIN)
    and 2 (EAST). One partner sends orders.
    """

    def __init__(self, world: World) -> None:
        self.world = world

    async def count(self, rows: str, header: str = HEADER, **options: Any) -> CountOutcome:
        database = await self.world.database()
        lines = io.StringIO(header + rows, newline="")
        outcome = await database.write(partial(import_csv, kind=KINDS["stock-count"], lines=lines, **options))
        assert isinstance(outcome, CountOutcome)
        return outcome

    async def count_refused(self, rows: str, header: str = HEADER, **options: Any) -> list[tuple[int, str, str]]:
        """Return row, column and sentence of each error of a stock count. The count must change nothing."""
        before = await self.everything()
        try:
            await self.count(rows, header, **options)
        except ImportRefused as refused:
            assert await self.everything() == before
            return [(error.line, error.column, error.sentence) for error in refused.outcome.errors.first]
        raise AssertionError("the count was not refused")

    async def adjust(self, article: int, warehouse: int = MAIN, **values: Any) -> None:
        body = validate_model(Adjustment, {"reason": "test", **_decimals(values)})
        await (await self.world.database()).write(lambda tx: adjustments.adjust(tx, article, warehouse, body))

    async def quarantine(self, article: int, warehouse: int = MAIN, **values: Any) -> None:
        body = validate_model(Quarantining, {"reason": "test", **_decimals(values)})
        await (await self.world.database()).write(lambda tx: adjustments.quarantine(tx, article, warehouse, body))

    async def release(self, article: int, warehouse: int = MAIN, **values: Any) -> None:
        body = validate_model(Quarantining, {"reason": "test", **_decimals(values)})
        await (await self.world.database()).write(lambda tx: adjustments.release(tx, article, warehouse, body))

    async def order(self, article: int, quantity: float, warehouse: int = MAIN, **line: Any) -> int:
        """Create an order that reserves the article, and return its id."""
        lines = [{"article_id": article, "quantity": quantity, **line}]
        body = {"partner_id": 1, "warehouse_id": warehouse, "lines": lines}
        answer = await self.world.send("POST", "/api/sales-orders", body)
        assert answer.status == 201, answer.raw
        return answer.id

    async def load(self, order_id: int) -> None:
        for status in ("IN_LUCRU", "INCARCAT"):
            path = f"/api/v2/sales-orders/{order_id}/status"
            assert (await self.world.send("PATCH", path, {"status": status})).status == 200

    async def parts(self, article: int, warehouse: int = MAIN) -> Parts:
        sql = f"SELECT id FROM stock WHERE article_id = {article} AND warehouse_id = {warehouse}"
        ids = [row[0] for row in await self.world.rows(sql)]
        found = await (await self.world.database()).read(lambda tx: contents_of(tx, ids))
        return {
            (goods.lot_number, goods.serial): (there.quantity / 1e6, there.quarantined / 1e6)
            for contents in found.values()
            for goods, there in contents.parts.items()
        }

    async def balance(self, article: int, warehouse: int = MAIN) -> tuple[float, float, float]:
        """Return quantity, quarantined and available, as the API returns them."""
        path = f"/api/stock?article_id={article}&warehouse_id={warehouse}"
        (record,) = (await self.world.call("GET", path)).body["data"]
        return record["quantity"], record["quarantined"], record["available"]

    async def everything(self) -> list[Any]:
        tables = ("stock", "stock_lots", "stock_serials", "stock_movements", "reservations", "events")
        return [await self.world.rows(f"SELECT * FROM {table} ORDER BY 1") for table in tables]

    async def ledger(self) -> list[Any]:
        return await self.world.rows(
            "SELECT kind, quantity / 1e6, quarantined / 1e6, lot_number, serial, reason "
            "FROM stock_movements ORDER BY id"
        )

    async def export(self) -> str:
        file = io.StringIO()
        await (await self.world.database()).read_long(lambda tx: export_csv(tx, KINDS["stock-count"], file))
        return file.getvalue()

    async def is_right(self) -> None:
        """Check that the doctor finds nothing."""
        assert (await (await self.world.database()).read_long(examine)).differences == []


def _decimals(values: dict[str, Any]) -> dict[str, Any]:
    numbers = ("by", "to", "quantity")
    return {name: Decimal(str(value)) if name in numbers else value for name, value in values.items()}


async def fill_store(world: World) -> None:
    await world.import_csv("partners", "code,name,type\nP1,First,CLIENT\n")
    await world.import_csv("warehouses", "code,name\nMAIN,Main\nEAST,East\n")
    articles = "P,Plain,false,false\nL,Lotted,true,false\nS,Serial,true,true\n"
    await world.import_csv("articles", "code,name,track_lot,track_serial\n" + articles)


async def open_store(world: World) -> Store:
    await world.fill(fill_store)
    return Store(world)
