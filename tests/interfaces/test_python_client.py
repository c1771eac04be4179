"""A Python client that openapi-python-client generates from the descriptions, without a warning and with every
operation, processes an order from its creation to its delivery.
"""

import importlib
import json
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.shop import Shop
from tests.support.tools import output_of
from tests.support.world import KERNEL, World
from wmsd.interfaces.kernel.routes import ROUTES as OF_THE_KERNEL
from wmsd.interfaces.rest_v1.routes import ROUTES as OF_V1
from wmsd.interfaces.rest_v2.routes import ROUTES as OF_V2

DESCRIPTIONS = {
    "v1": ("/openapi.json", OF_V1),
    "v2": ("/api/v2/openapi.json", OF_V2),
    "kernel": (f"{KERNEL}openapi.json", OF_THE_KERNEL),
}
PATIENCE = 120


@pytest.fixture
def generated(tmp_path: Path) -> Iterator[Path]:
    """Create a folder for the packages `client_of_…` and make them importable."""
    folder = tmp_path / "generated"
    folder.mkdir()
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.startswith("client_of_")]:
        del sys.modules[name]


async def generate(world: World, folder: Path, name: str) -> Path:
    described, package = folder / f"{name}.json", folder / f"client_of_{name}"
    described.write_text(json.dumps((await world.send("GET", DESCRIPTIONS[name][0])).body))
    tool = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"]
    places = ["--path", described, "--output-path", package, "--config", _settings(folder)]
    await output_of(*tool, *places, seconds=PATIENCE)
    return package


def _settings(folder: Path) -> str:
    """Write settings that switch off the formatting of the generated code."""
    file = folder / "settings.yml"
    file.write_text("post_hooks: []\n")
    return str(file)


@pytest.mark.parametrize("name", DESCRIPTIONS)
async def test_every_operation_is_in_the_client(world: World, generated: Path, name: str) -> None:
    await world.open_kernel()
    package = await generate(world, generated, name)
    made = {file.stem for file in package.glob("api/*/*.py")} - {"__init__"}
    assert made == {route.operation.name for route in DESCRIPTIONS[name][1]}


async def test_an_order_from_its_creation_to_its_delivery(shop: Shop, generated: Path) -> None:
    for name in ("v1", "v2"):
        await generate(shop.world, generated, name)
    async with client_of("v1", shop.world) as client:
        order_id = await _create_and_change(client, shop.world)
    async with client_of("v2", shop.world) as client:
        await _deliver(client, shop.world, order_id)
    assert await shop.stock() == (17.5, 0, 17.5)


async def _create_and_change(client: Any, world: World) -> int:
    asked: dict[str, Any] = {"client": client, "x_company_id": world.company}
    models = importlib.import_module("client_of_v1.models")
    new = models.SalesOrderFields(
        partner_id=1,
        warehouse_id=1,
        external_ref="PY-1",
        ship_to=models.ShipTo(city="Cluj-Napoca"),
        lines=[models.SalesOrderLineFields(article_code="A", quantity=2.5)],
    )
    create = operation("v1", "sales_orders", "create_sales_order")
    made = await create(**asked, body=new, idempotency_key="python-1")
    assert (made.status_code, made.headers["ETag"][0]) == (201, '"')
    order = made.parsed
    assert (order.lines[0].quantity, order.ship_to.city, order.status) == (2.5, "Cluj-Napoca", "CREAT")
    assert isinstance(order.created_at, datetime)
    again = await create(**asked, body=new, idempotency_key="python-1")
    assert (again.parsed.id, again.headers["Idempotent-Replayed"]) == (order.id, "true")

    change = operation("v1", "sales_orders", "update_sales_order")
    changed = await change(
        order.id, **asked, body=models.SalesOrderChanges(carrier="Fan"), if_match=made.headers["ETag"]
    )
    assert changed.parsed.carrier == "Fan"

    refused = await create(**asked, body=new)
    assert isinstance(refused.parsed, models.Problem)
    assert refused.parsed.code == "EXTERNAL_REF_TAKEN"
    assert refused.parsed.details.additional_properties == {"id": order.id}
    return int(order.id)


async def _deliver(client: Any, world: World, order_id: int) -> None:
    asked: dict[str, Any] = {"client": client, "x_company_id": world.company}
    models = importlib.import_module("client_of_v2.models")
    move = operation("v2", "sales_orders", "change_sales_order_status")
    for status in ("IN_LUCRU", "INCARCAT", "LIVRAT"):
        body = models.SalesOrderStatusMove(status=models.SalesOrderStatus(status))
        moved = await move(order_id, **asked, body=body)
        assert moved.parsed.status == status
    page = (await operation("v2", "sales_orders", "walk_sales_orders")(**asked, per_page=1)).parsed
    assert ([each.id for each in page.data], page.next_cursor) == ([order_id], None)


def client_of(name: str, world: World) -> Any:
    made = importlib.import_module(f"client_of_{name}")
    return made.AuthenticatedClient(base_url=world.base_url, token=world.token)


def operation(name: str, tag: str, operation_id: str) -> Any:
    """Return the coroutine function of an operation, which returns status, headers and the parsed body."""
    return importlib.import_module(f"client_of_{name}.api.{tag}.{operation_id}").asyncio_detailed
