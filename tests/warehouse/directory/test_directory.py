"""Clients, partners and warehouses: read over HTTP, maintained by import."""

import pytest

from tests.support.world import World

KINDS = pytest.mark.parametrize("kind", ["clients", "partners", "warehouses"])


@KINDS
async def test_lists_and_single_records(world: World, kind: str) -> None:
    await world.import_csv(kind, "code,name,address.city\nA,Alpha,Cluj\nB,Beta,\n")
    page = (await world.call("GET", f"/api/{kind}")).body
    assert [record["code"] for record in page["data"]] == ["A", "B"]
    assert page["meta"]["total"] == 2
    one = (await world.call("GET", f"/api/{kind}/1")).body
    assert one == page["data"][0]
    assert one["address"] == {"street": None, "city": "Cluj", "postal_code": None, "country": None}
    assert page["data"][1]["address"] is None
    await world.call("GET", f"/api/{kind}/3", status=404)
    by_code = (await world.call("GET", f"/api/{kind}?code=B")).body
    assert [record["id"] for record in by_code["data"]] == [2]


@KINDS
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_they_are_read_only(world: World, kind: str, method: str) -> None:
    await world.call(method, f"/api/{kind}", {}, status=405)
    await world.call(method, f"/api/{kind}/1", {}, status=405)


async def test_filters(world: World) -> None:
    await world.import_csv("partners", "code,name,type,active\nA,A,CLIENT,true\nB,B,FURNIZOR,false\n")

    async def codes(query: str) -> list[str]:
        return [record["code"] for record in (await world.call("GET", f"/api/partners?{query}")).body["data"]]

    assert await codes("type=FURNIZOR") == ["B"]
    assert await codes("active=true") == ["A"]
    assert await codes("active=0") == ["B"]
    refused = await world.call("GET", "/api/partners?type=OTHER&active=maybe", status=422)
    assert set(refused.errors) == {"type", "active"}


async def test_an_import_changes_known_codes_and_leaves_other_columns(world: World) -> None:
    await world.import_csv("clients", "code,name,email,address.city\nA,Alpha,a@example.com,Cluj\n")
    outcome = await world.import_csv("clients", "code,name,address.street\nA,Alpha 2,Main 1\n")
    assert (outcome.created, outcome.updated, outcome.unchanged) == (0, 1, 0)
    one = (await world.call("GET", "/api/clients/1")).body
    assert (one["name"], one["email"]) == ("Alpha 2", "a@example.com")
    assert (one["address"]["city"], one["address"]["street"]) == ("Cluj", "Main 1")
    again = await world.import_csv("clients", "code,name,address.street\nA,Alpha 2,Main 1\n")
    assert (again.updated, again.unchanged) == (0, 1)
