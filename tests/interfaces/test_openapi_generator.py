"""Clients of openapi-generator process an order from its creation to its delivery. The tests need Java:
scripts/clients.
"""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from tests.interfaces.test_openapi_audit import FOLDER, lay_down, run, workshop
from tests.support.programs import program
from tests.support.shop import Shop

__all__ = ["workshop"]
GENERATOR = os.environ.get("WMSD_OPENAPI_GENERATOR", "")
PATIENCE = 300
pytestmark = pytest.mark.skipif(not GENERATOR, reason="openapi-generator needs Java: scripts/clients runs these")


async def told_by(workshop: Path, *command: str) -> str:
    running = await asyncio.create_subprocess_exec(
        *command, cwd=workshop, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    written, _ = await asyncio.wait_for(running.communicate(), PATIENCE)
    assert running.returncode == 0, written.decode()
    return written.decode()


async def generate(shop: Shop, workshop: Path, kind: str, into: str) -> None:
    """Generate a client, and check that no two files have the same name: the second would replace the first."""
    file = await lay_down(shop.world, workshop, "v1")
    said = await told_by(workshop, GENERATOR, "generate", "-i", file, "-g", kind, "-o", into)
    assert "COLLISION" not in said


async def was_delivered(shop: Shop, external_ref: str) -> None:
    (order,) = (await shop.world.call("GET", f"/api/sales-orders?external_ref={external_ref}")).body["data"]
    assert (order["status"], order["requested_date"]) == ("LIVRAT", "2026-12-01")
    assert await shop.stock() == (17.5, 0, 17.5)


async def test_typescript(shop: Shop, workshop: Path) -> None:
    await generate(shop, workshop, "typescript-fetch", "typescript")
    for name in ("generator.ts", "tsconfig.generator.json"):
        shutil.copy(FOLDER / name, workshop)
    # the file says that scripts are modules, but the generated scripts are not
    (workshop / "package.json").unlink()
    await run(workshop, "tsc", "--project", "tsconfig.generator.json")
    world = shop.world
    told = await run(workshop, "out/generator.js", world.base_url, world.token, str(world.company))
    assert told == "SO-000001 LIVRAT\n"
    await was_delivered(shop, "OG-TS")


async def test_php(shop: Shop, workshop: Path) -> None:
    await generate(shop, workshop, "php", "php")
    shutil.copy(FOLDER / "generator.php", workshop)
    world = shop.world
    told = await told_by(
        workshop, program("php"), "generator.php", world.base_url, world.token, str(world.company)
    )
    assert told == "SO-000001 LIVRAT\n"
    await was_delivered(shop, "OG-PHP")
