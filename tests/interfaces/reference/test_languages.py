"""The examples in each language are sent unchanged to a real server, and do what the page says."""

import asyncio
import html
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.openapi.described import DOCUMENTS, ROUTES
from tests.interfaces.reference.test_pages import page_of
from tests.support.programs import program
from tests.support.shop import Shop
from wmsd.base import strict_json
from wmsd.contract.access import ABILITIES
from wmsd.contract.validation import validate_model
from wmsd.interfaces.reference.code_examples import PHP, PYTHON, example_of
from wmsd.interfaces.reference.operations import Reference, Version, reference_of

RUN = {
    "curl": ("bash", "example.sh"),
    "javascript": ("node", "example.mjs"),
    "python": ("python3", "example.py"),
    "php": ("php", "example.php"),
}
EACH = pytest.mark.parametrize("language", RUN)
PATIENCE = 60


def reference() -> Reference:
    return reference_of([Version(name, ROUTES[name], DOCUMENTS[name]) for name in ("v1", "v2")], ABILITIES)


async def run(shop: Shop, folder: Path, operation: str, language: str, is_refused: bool = False) -> str:
    """Run the example of the page, and return its output. Python's library raises for a refusal, which the output
    then shows.
    """
    interpreter, name = RUN[language]
    world = shop.world
    shown = (await world.send("GET", page_of(operation), token="", company="")).raw.decode()
    found = re.search(rf'id="example-{language}">(.*?)</code>', shown, re.DOTALL)
    assert found
    (folder / name).write_text(html.unescape(found[1]), encoding="utf-8")
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
    assert is_refused or running.returncode == 0, complaints
    return (complaints if is_refused and language == "python" else written).decode()


@EACH
async def test_a_record_is_created(shop: Shop, tmp_path: Path, language: str) -> None:
    written = await run(shop, tmp_path, "create_article", language)
    assert '"code":"85123A"' in written
    found = (await shop.world.call("GET", "/api/articles?code=85123A")).body["data"]
    assert [each["name"] for each in found] == ["Hanging heart T-light holder"]


@EACH
async def test_a_body_with_objects_and_lists_is_understood(shop: Shop, tmp_path: Path, language: str) -> None:
    """The order of the example refers to a partner that this shop does not have."""
    written = await run(shop, tmp_path, "create_sales_order", language, is_refused=True)
    assert "HTTP Error 422" in written if language == "python" else '"code":"INVALID_PARTNER"' in written


@EACH
async def test_a_list_is_read(shop: Shop, tmp_path: Path, language: str) -> None:
    written = await run(shop, tmp_path, "list_articles", language)
    assert '"code":"A"' in written


@EACH
async def test_an_operation_that_needs_no_token_has_none(shop: Shop, tmp_path: Path, language: str) -> None:
    assert '"status":"ok"' in await run(shop, tmp_path, "get_health", language)


def test_every_example_is_a_request_of_its_operation() -> None:
    for described in reference().operations:
        example = example_of(described)
        assert "{" not in example["path"]
        if example["has_body"]:
            assert described.operation.body is not None
            raw = strict_json.dumps(example["body"]).encode()
            validate_model(described.operation.body, *strict_json.parse_json(raw))
        assert example["has_key"] == any(row.name == "Idempotency-Key" for row in described.headers)


@pytest.mark.parametrize(
    ("value", "python", "php"),
    [
        (None, "None", "null"),
        (True, "True", "true"),
        (0.5, "0.5", "0.5"),
        ({}, "{}", "new stdClass()"),
        ([], "[]", "[]"),
        ('it\'s "so" \\ $x', '"it\'s \\"so\\" \\\\ $x"', "'it\\'s \"so\" \\\\ $x'"),
        ({"a": [1]}, '{\n    "a": [\n        1,\n    ],\n}', "[\n    'a' => [\n        1,\n    ],\n]"),
    ],
)
def test_literals(value: Any, python: str, php: str) -> None:
    assert (PYTHON.of(value), PHP.of(value)) == (python, php)
