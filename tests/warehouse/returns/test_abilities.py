"""The abilities that returns need, and the places that report them."""

from typing import Any

import pytest

from tests.support.shop import Shop
from tests.support.world import PASSWORD, World, open_world
from tests.warehouse.returns.test_returns import CREATED, PATH, body


async def test_reading_is_enough_to_write_unless_the_installation_asks_for_more(shop: Shop, tmp_path: Any) -> None:
    reader = await shop.world.new_token("admin@example.com", ["returns:read"])
    await shop.world.call("POST", PATH, body(), status=201, events=CREATED, token=reader)
    stranger = await shop.world.new_token("admin@example.com", ["stock:read"])
    answer = await shop.world.call("POST", PATH, body(), status=403, token=stranger)
    assert answer.body["message"] == "This token lacks the ability returns:read."
    await shop.world.set_module("ACME", "returns", False)
    await shop.world.call("GET", PATH, status=403, token=reader)
    async with open_world(tmp_path / "strict", {"returns": {"require_write_ability": True}}) as strict:
        reader = await strict.new_token("admin@example.com", ["returns:read"])
        writer = await strict.new_token("admin@example.com", ["returns:write"])
        await strict.call("GET", PATH, token=reader)
        await strict.call("POST", PATH, body(), status=403, token=reader)
        await strict.call("POST", PATH, body(), status=422, token=writer)
        asked = {
            "email": "admin@example.com",
            "password": PASSWORD,
            "abilities": ["returns:write"],
            "device_name": "x",
        }
        assert (await strict.send("POST", "/api/auth/token", asked)).status == 200


async def test_the_schema_of_graphql_says_what_suffices_and_what_may_be_required(shop: Shop) -> None:
    schema = (await shop.world.send("GET", "/api/graphql/schema", company="", token="")).raw.decode()
    needed = "Needs returns:read, or returns:write if the setting returns.require_write_ability is on."
    assert f"Create a return. {needed}" in schema
    assert schema.count("returns:write") == schema.count(needed)


async def told_of(world: World) -> dict[str, Any]:
    """Return the abilities that creating returns needs and the abilities that exist, as the installation reports
    them.
    """
    index = (await world.call("GET", "/api")).body["endpoints"]
    described = (await world.send("GET", "/openapi.json")).body
    asked = {
        "email": "admin@example.com",
        "password": PASSWORD,
        "abilities": ["returns:write"],
        "device_name": "x",
    }
    return {
        "index": next(each["ability"] for each in index if (each["method"], each["path"]) == ("POST", PATH)),
        "description": "returns:write" in described["paths"][PATH]["post"]["description"],
        "enum": "returns:write" in described["components"]["schemas"]["Ability"]["enum"],
        "reference": b"returns:write" in (await world.send("GET", "/docs/api")).raw,
        "sign-in": (await world.send("POST", "/api/auth/token", asked)).status,
    }


@pytest.mark.parametrize("required", [False, True])
async def test_the_ability_to_write_is_told_of_only_where_it_is_required(tmp_path: Any, required: bool) -> None:
    async with open_world(tmp_path / "data", {"returns": {"require_write_ability": required}}) as world:
        assert await told_of(world) == {
            "index": "returns:write" if required else "returns:read",
            "description": required,
            "enum": required,
            "reference": required,
            "sign-in": 200 if required else 422,
        }
