"""The descriptions, checked by common tools: two linters, and a generated TypeScript client that compiles strictly
and processes an order from its creation to its delivery.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.support.programs import packages, program
from tests.support.shop import Shop
from tests.support.tools import output_of
from tests.support.world import KERNEL, World

FOLDER = Path(__file__).parent / "openapi_audit"
FILES = ("package.json", "tsconfig.json", "round_trip.ts", "redocly.yaml", "spectral.yaml")
PATIENCE = 120
QUIETLY = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_UPDATE_NOTIFIER": "1"}
DESCRIPTIONS = {"v1": "/openapi.json", "v2": "/api/v2/openapi.json", "kernel": f"{KERNEL}openapi.json"}


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    """Create a folder with the tools."""
    folder = tmp_path / "workshop"
    folder.mkdir()
    (folder / "node_modules").symlink_to(packages(FOLDER))
    for name in FILES:
        shutil.copy(FOLDER / name, folder)
    return folder


async def run(workshop: Path, *command: str) -> str:
    """Run a script of the packages, check that it succeeds, and return its output."""
    tool, *arguments = command
    script = workshop / "node_modules" / ".bin" / tool
    path = script.resolve() if script.exists() else workshop / tool
    return await output_of(
        *(program("node"), path, *arguments),
        seconds=PATIENCE,
        with_errors=True,
        cwd=workshop,
        env={**os.environ, **QUIETLY},
    )


async def lay_down(world: World, workshop: Path, name: str) -> str:
    """Write a served description into the workshop, and return the file name."""
    described = (await world.send("GET", DESCRIPTIONS[name])).body
    (workshop / f"{name}.json").write_text(json.dumps(described))
    return f"{name}.json"


async def test_linters_find_nothing(world: World, workshop: Path) -> None:
    await world.open_kernel()
    files = [await lay_down(world, workshop, name) for name in DESCRIPTIONS]
    await run(workshop, "spectral", "lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint", *files)
    said = await run(workshop, "redocly", "lint", "--config", "redocly.yaml", *files)
    assert said.count("validated in") == len(files)
    assert "warning" not in said


async def test_a_linter_finds_what_is_wrong(world: World, workshop: Path) -> None:
    """The linter detects an error in a description, so a clean result means something."""
    file = await lay_down(world, workshop, "v1")
    described = json.loads((workshop / file).read_text())
    del described["paths"]["/api/articles"]["get"]["operationId"]
    (workshop / file).write_text(json.dumps(described))
    with pytest.raises(AssertionError, match="operation-operationId"):
        await run(workshop, "spectral", "lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint", file)


async def test_a_generated_client_takes_an_order_to_its_delivery(shop: Shop, workshop: Path) -> None:
    """The client also contains a request that is not described, which must not compile."""
    await shop.order(status="LIVRAT")
    for name in ("v1", "v2"):
        file = await lay_down(shop.world, workshop, name)
        await run(workshop, "openapi-typescript", file, "-o", f"{name}.d.ts")
    await run(workshop, "tsc", "--project", ".")
    told = await run(workshop, "out/round_trip.js", shop.world.base_url, shop.world.token, str(shop.world.company))
    assert told == "order SO-000002 went from CREAT to LIVRAT\n"
    order = (await shop.world.call("GET", "/api/sales-orders/2")).body
    assert (order["status"], order["carrier"], order["external_ref"]) == ("LIVRAT", "Fan Courier", "TS-1")
    assert [each["status"] for each in order["status_history"]] == ["CREAT", "IN_LUCRU", "INCARCAT", "LIVRAT"]
    assert await shop.stock() == (14.5, 0, 14.5)
