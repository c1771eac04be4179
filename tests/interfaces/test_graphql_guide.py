"""The guide's page on GraphQL: its requests are sent as printed, and get the described replies."""

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import World
from wmsd import docs
from wmsd.interfaces.graphql import limits

GUIDE = (Path(docs.__file__).parent / "graphql.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(bash|json)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
TABLE = dict(re.findall(r"^\| ([a-z, ]+) \| ([0-9][0-9 ]*)", GUIDE, re.MULTILINE))


@pytest.fixture
async def told(world: World) -> World:
    """Create the company that the page describes."""
    await world.import_csv("warehouses", "code,name\nMAIN,Main hall\n")
    await world.import_csv("partners", "code,name\nSHOP,Shop\n")
    await world.import_csv("articles", "code,name\nLAMP-1,Desk lamp\nBULB-E27,Bulb E27\n")
    await world.import_csv("stock", "article_code,warehouse_code,quantity\nLAMP-1,MAIN,25\nBULB-E27,MAIN,200\n")
    for quantity in (2, 5):
        lines = [{"article_code": "LAMP-1", "quantity": quantity}]
        order = {"partner_id": 1, "warehouse_id": 1, "lines": lines}
        events = ["sales_order.created", "stock.updated"]
        await world.call("POST", "/api/sales-orders", order, status=201, events=events)
    return world


async def test_every_request_is_answered_as_the_page_says(told: World) -> None:
    reader = await told.new_token("admin@example.com", ["sales-orders:read", "articles:read"])
    function = ""
    answer: Any = None
    for language, text in BLOCKS:
        if language == "json":
            assert answer == json.loads(text)
            continue
        asked = text.replace("http://127.0.0.1:8480", told.base_url).replace(
            "curl ", "curl --silent --show-error "
        )
        function = function or asked[: asked.index("}\n") + 2]
        answer = await run(function + asked.removeprefix(function), TOKEN=told.token, READER=reader)


async def run(script: str, **environment: str) -> Any:
    process = await asyncio.create_subprocess_exec(
        *("bash", "-euc", script),
        env={"PATH": os.environ["PATH"], **environment},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, script
    return json.loads(out)


def test_the_limits_are_those_of_the_program() -> None:
    told = {name: int(figure.replace(" ", "")) for name, figure in TABLE.items()}
    assert told == {
        "cost": limits.MOST_COST,
        "levels of nested fields": limits.DEEPEST,
        "fields in a document": limits.MOST_FIELDS,
        "aliases": limits.MOST_ALIASES,
        "tokens in a document": limits.MOST_TOKENS,
        "objects in an answer, with the lines of documents": limits.MOST_OBJECTS,
    }
