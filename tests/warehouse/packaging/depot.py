"""A company that lends pallets and crates."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.support.world import World
from wmsd.base.quantity import SCALE
from wmsd.maintenance.file_checks.company_checks import Findings, examine
from wmsd.warehouse.packaging.packaging_ledger import Document, Movement, record_movement
from wmsd.warehouse.packaging.schema import Direction

BALANCES = "/api/v2/packaging/balances"
MOVEMENTS = "/api/v2/packaging/movements"


@dataclass
class Depot:
    """Packaging types 1 (PAL) and 2 (CRATE), and partners 1 (P1) and 2 (P2), without any movements."""

    world: World

    async def move(
        self,
        direction: Direction,
        quantity: float,
        packaging_type: int = 1,
        partner: int = 1,
        document: Document | None = None,
        **fields: Any,
    ) -> list[tuple[str, Any]]:
        """Record a movement, and return the events that it causes."""
        before = await self.world.last_event()
        movement = Movement(packaging_type, partner, direction, round(quantity * SCALE), **fields)
        database = await self.world.database()
        await database.write(partial(record_movement, movement=movement, document=document))
        return await self.world.events_after(before)

    async def balances(self) -> dict[tuple[str, int], float]:
        """Return the listed quantities by packaging type and partner."""
        listed = (await self.world.call("GET", BALANCES)).body["data"]
        return {(each["packaging_type_code"], each["partner_id"]): each["quantity"] for each in listed}

    async def codes(self) -> list[str]:
        """Return the codes of the movements in the order of their recording."""
        return [code for (code,) in await self.world.rows("SELECT code FROM packaging_movements ORDER BY id")]

    async def examined(self) -> Findings:
        return await (await self.world.database()).read_long(examine)


async def open_depot(world: World) -> Depot:
    await world.import_csv("partners", "code,name,type\nP1,First,CLIENT\nP2,Second,FURNIZOR\n")
    await world.import_csv("packaging-types", "code,name\nPAL,Pallet\nCRATE,Crate\n")
    return Depot(world)
