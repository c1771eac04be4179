"""Returnable packaging for tests of documents that move it."""

from tests.support.world import World

EUR, CRATE = 1, 2


async def open_crates(world: World) -> None:
    await world.import_csv("packaging-types", "code,name\nEUR,Euro pallet\nCRATE,Crate\n")


async def balances(world: World) -> dict[tuple[str, int], float]:
    """Return what each partner owes us, by packaging type and partner."""
    records = (await world.call("GET", "/api/v2/packaging/balances")).body["data"]
    return {(each["packaging_type_code"], each["partner_id"]): each["quantity"] for each in records}


async def movements(world: World) -> list[tuple[str, float, str | None, int | None]]:
    """Return the direction, the quantity and the document of each movement."""
    records = (await world.call("GET", "/api/v2/packaging/movements")).body["data"]
    return [
        tuple(each[name] for name in ("direction", "quantity", "document_type", "document_id")) for each in records
    ]
