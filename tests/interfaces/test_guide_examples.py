"""The programs of the guide's examples do what the guide says, each time that they are run."""

import asyncio
import os
import re
from pathlib import Path

import pytest

from tests.support.programs import program
from tests.support.shop import Shop
from wmsd import docs

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


@pytest.mark.parametrize("language", RUN)
async def test_it_makes_one_order_and_reads_on_where_it_was(shop: Shop, tmp_path: Path, language: str) -> None:
    first = await run(shop, tmp_path, language)
    orders = (await shop.world.call("GET", "/api/sales-orders")).body["data"]
    assert [order["ship_to"]["city"] for order in orders] == ["Cluj-Napoca"]
    assert "SO-000001" in first
    shown = [line for line in first.splitlines() if line.startswith("sales_order.created")]
    assert shown == ([] if language == "bash" else ["sales_order.created 1"])
    before = (tmp_path / "place.txt").read_text().strip()
    await shop.world.send("PATCH", "/api/sales-orders/1", {"notes": "changed"})
    again = await run(shop, tmp_path, language)
    assert len((await shop.world.call("GET", "/api/sales-orders")).body["data"]) == 1
    if language != "bash":
        assert again.splitlines()[1:] == ["sales_order.updated 1"]
    place = (tmp_path / "place.txt").read_text().strip()
    assert place != before
    rest = (await shop.world.call("GET", f"/api/v2/events?cursor={place}")).body
    assert (rest["data"], rest["next_cursor"]) == ([], None)


async def run(shop: Shop, folder: Path, language: str) -> str:
    interpreter, name = RUN[language]
    (folder / name).write_text(PROGRAMS[language], encoding="utf-8")
    world = shop.world
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
    assert (running.returncode, complaints.decode()) == (0, "")
    return written.decode()
