"""The guide's page on the kernel interface: its requests are sent as printed, and get the described replies."""

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

import click
import pytest

from tests.support.world import World
from wmsd import docs
from wmsd.interfaces.cli.main import wmsd
from wmsd.interfaces.kernel.routes import ROUTES
from wmsd.tenants.companies import actions as companies
from wmsd.tenants.companies.schema import NewOperator

GUIDE = (Path(docs.__file__).parent / "kernel.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(bash|json)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
OF_THE_DISK = {"platform_database_bytes", "database_bytes"}


@pytest.fixture
async def told(world: World) -> World:
    """Create the installation that the page describes; ACME becomes the company of the page."""

    operator = NewOperator(code="OPS", name="Ops Logistics")
    await world.installation.platform.write(lambda tx: companies.create_operator(tx, operator))
    await world.installation.platform.write(
        lambda tx: tx.execute("UPDATE companies SET name = 'Acme Trading', operator_id = 1")
    )
    for module in ("returns", "webhooks"):
        await world.set_module("ACME", module, False)
    await world.import_csv("warehouses", "code,name\nMAIN,Main hall\n")
    article = {"code": "A", "name": "A"}
    await world.call("POST", "/api/articles", article, status=201, events=["article.created"])
    await world.open_kernel()
    return world


async def run(world: World, script: str) -> Any:
    """Return the parsed output of the script, run with the address and the token of the world."""
    setting = f'curl() {{ command curl --silent --show-error "$@"; }}; kernel={world.base_url}/api/kernel/v1\n'
    process = await asyncio.create_subprocess_exec(
        *("bash", "-euc", setting + re.sub(r"^kernel=.*\n", "", script, flags=re.MULTILINE)),
        env={"PATH": os.environ["PATH"], "KERNEL_TOKEN": world.kernel_token},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, script
    return json.loads(out)


def without_bytes(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: 0 if name in OF_THE_DISK else without_bytes(value) for name, value in found.items()}
    return [without_bytes(each) for each in found] if isinstance(found, list) else found


async def test_every_request_is_answered_as_the_page_says(told: World) -> None:
    answer: Any = None
    for language, text in BLOCKS:
        if language == "bash":
            answer = await run(told, text)
            continue
        shown = json.loads(text)
        if shown.get("total") == "…":
            assert answer["total"].keys() == {*answer["companies"][0], "companies", "companies_unavailable"} - {
                *("id", "code", "available", "quota_bytes")
            }
            shown["total"] = answer["total"]
        assert without_bytes(answer) == without_bytes(shown)


def test_the_page_sends_every_request_that_there_is() -> None:
    sent = {
        ("PUT" if "-X PUT" in text else "GET", re.sub(r"/1/modules/returns", "/{id}/modules/{module}", path))
        for language, text in BLOCKS
        for path in re.findall(r"\$kernel(\S+)", text)
    }
    assert sent == {(route.method, route.path.removeprefix("/api/kernel/v1")) for route in ROUTES}


def test_its_commands_are_understood() -> None:
    for line in re.findall(r"^wmsd (.+)$", GUIDE, re.MULTILINE) + re.findall(r"`wmsd ([^`]+)`", GUIDE):
        command: Any = wmsd
        arguments = line.split()
        context = click.Context(command, **wmsd.context_settings)
        while isinstance(command, click.Group) and arguments:
            command = command.get_command(context, arguments.pop(0))
            assert command is not None, line
        if not isinstance(command, click.Group) and command.name != "billing":
            command.make_context("wmsd", arguments, parent=context)
