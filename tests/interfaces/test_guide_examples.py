"""The programs of the guide's examples do what the guide says, each time that they are run."""

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import program
from tests.support.world import World
from wmsd import docs
from wmsd.installation import demo

GUIDE = (Path(docs.__file__).parent / "examples.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"```(\w+)\n(.*?)```", GUIDE, re.DOTALL))
RUN = {
    "bash": ("bash", "example.sh"),
    "javascript": ("node", "example.mjs"),
    "python": ("python3", "example.py"),
    "php": ("php", "example.php"),
}
PATIENCE = 60


def test_there_is_one_in_each_language() -> None:
    assert PROGRAMS.keys() == RUN.keys()


@pytest.fixture
async def shop(world: World) -> World:
    """With the demo's company and its token: what the guide is tried against first."""
    loaded = await demo.load(world.installation)
    world.company, world.token = loaded.company_id, loaded.token
    return world


@pytest.mark.parametrize("language", RUN)
async def test_it_makes_one_order_and_reads_on_where_it_was(shop: World, tmp_path: Path, language: str) -> None:
    first = await run(shop, tmp_path, language)
    (order,) = await orders_of_the_example(shop)
    assert order["ship_to"]["city"] == "Cluj-Napoca"
    assert order["code"] in first
    shown = [line for line in first.splitlines() if line.startswith("sales_order.created")]
    assert shown[-1:] == ([] if language == "bash" else [f"sales_order.created {order['id']}"])
    before = (tmp_path / "place.txt").read_text().strip()
    await shop.send("PATCH", f"/api/sales-orders/{order['id']}", {"notes": "changed"})
    again = await run(shop, tmp_path, language)
    assert len(await orders_of_the_example(shop)) == 1
    if language != "bash":
        assert again.splitlines()[1:] == [f"sales_order.updated {order['id']}"]
    place = (tmp_path / "place.txt").read_text().strip()
    assert place != before
    rest = (await shop.call("GET", f"/api/v2/events?cursor={place}")).body
    assert (rest["data"], rest["next_cursor"]) == ([], None)


@pytest.mark.parametrize("language", RUN)
async def test_a_refusal_is_told_and_fails(shop: World, tmp_path: Path, language: str) -> None:
    wrong = PROGRAMS[language].replace("85123A", "NONE-1")
    assert wrong != PROGRAMS[language]
    code, written, complaints = await run_program(shop, tmp_path, language, wrong)
    assert code != 0
    assert "lines.0.article_code" in written + complaints
    assert not (tmp_path / "place.txt").exists()


async def orders_of_the_example(world: World) -> list[dict[str, Any]]:
    """Beside those of the demo."""
    orders = (await world.call("GET", "/api/sales-orders?per_page=100")).body["data"]
    return [each for each in orders if (each["external_ref"] or "").startswith("shop-")]


async def run(world: World, folder: Path, language: str) -> str:
    code, written, complaints = await run_program(world, folder, language, PROGRAMS[language])
    assert (code, complaints) == (0, "")
    return written


async def run_program(world: World, folder: Path, language: str, text: str) -> tuple[int | None, str, str]:
    """Its exit code, and what it has written and complained of."""
    interpreter, name = RUN[language]
    (folder / name).write_text(text, encoding="utf-8")
    named = {"WMSD_URL": world.base_url, "WMSD_TOKEN": world.token, "WMSD_COMPANY": str(world.company)}
    running = await asyncio.create_subprocess_exec(
        program(interpreter),
        name,
        cwd=folder,
        env={**os.environ, **named},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    written, complaints = await asyncio.wait_for(running.communicate(), PATIENCE)
    return running.returncode, written.decode(), complaints.decode()
