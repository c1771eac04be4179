"""Tests of the layers in SQL: a package reads only the tables of its own and of the packages below it, as with
imports.
"""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)")
OWNERS = {
    "tenants/companies": ("companies", "company_modules", "operators", "audit"),
    "tenants/accounts": (
        "users",
        "user_companies",
        "tokens",
        "kernel_tokens",
        "sign_in_addresses",
        "second_factors",
        "recovery_codes",
    ),
    "tenants/keys": ("signing_keys", "secrets", "recovery_phrases"),
    "tenants/sites": ("sites",),
    "tenants/sign_on": ("sign_on_identities",),
    "warehouse/directory": ("clients", "partners", "warehouses"),
    "warehouse/articles": ("articles", "article_search"),
    "warehouse/stock": (
        "stock",
        "stock_lots",
        "stock_serials",
        "stock_movements",
        "reservations",
        "lot_reservations",
        "stock_rules",
    ),
    "warehouse/documents": ("document_changes",),
    "warehouse/packaging": ("packaging_types", "packaging_movements", "packaging_balances"),
    "warehouse/sales_orders": ("sales_orders", "sales_order_lines"),
    "warehouse/purchase_orders": ("purchase_orders", "purchase_order_items", "inbound_rules"),
    "warehouse/receptions": ("receptions", "reception_items"),
    "warehouse/counts": ("counts", "count_lines"),
    "warehouse/returns": ("returns", "return_lines"),
    "warehouse/transports": ("transports", "transport_orders", "transport_packaging"),
}
"""The tables of each package. The tables of the outbox, which queues for webhooks, and of the application are not
here.
"""


def rooms() -> dict[str, tuple[int, ...]]:
    """Return the depth of each package: the place of its top package, and then its place within that."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    places: dict[str, tuple[int, ...]] = {}
    for contract in settings["tool"]["importlinter"]["contracts"]:
        for container in contract.get("containers", ()):
            above = places.get(container, ())
            for place, layer in enumerate(contract["layers"]):
                places |= {f"{container}.{room}": (*above, place) for room in layer.split(" | ")}
    return {room.removeprefix("wmsd.").replace(".", "/"): place for room, place in places.items()}


@pytest.mark.parametrize("room", OWNERS)
def test_a_room_reads_no_tables_of_rooms_above_or_beside_it(room: str) -> None:
    places = rooms()
    owner_of = {table: owner for owner, tables in OWNERS.items() for table in tables}
    for file in (ROOT / "wmsd" / room).rglob("*.py"):
        for table in NAMED.findall(file.read_text(encoding="utf-8")):
            owner = owner_of.get(table, room)
            assert owner == room or places[owner] > places[room], f"{file.name} reads {table}"
