"""The served descriptions: valid OpenAPI 3.1, one entry per route, and every refusal documented with an
example.
"""

from typing import Any

import pytest
from openapi_spec_validator import validate

from tests.support.world import World
from wmsd.base.problems import STATUS_OF_CODE
from wmsd.contract.route import Route
from wmsd.interfaces.etsm.routes import ROUTES as ETSM
from wmsd.interfaces.graphql.over_http import ROUTES as GRAPHQL
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2

VERSIONS = pytest.mark.parametrize(
    ("address", "routes", "version"),
    [("/openapi.json", V1, "1.0.0"), ("/api/v2/openapi.json", V2, "2.0.0")],
    ids=["v1", "v2"],
)


@VERSIONS
async def test_the_description_is_valid(world: World, address: str, routes: Any, version: str) -> None:
    document = (await world.call("GET", address, token="", company="")).body
    validate(document)
    assert (document["openapi"], document["info"]["version"]) == ("3.1.0", version)


@VERSIONS
async def test_the_description_has_every_route_and_no_other(
    world: World, address: str, routes: tuple[Route, ...], version: str
) -> None:
    document = (await world.call("GET", address)).body
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(route.method, route.path) for route in routes}


@VERSIONS
async def test_every_refusal_has_an_example_of_its_code(
    world: World, address: str, routes: tuple[Route, ...], version: str
) -> None:
    document = (await world.call("GET", address)).body
    for route in routes:
        responses = document["paths"][route.path][route.method.lower()]["responses"]
        needed = {"500"}
        needed |= {"401", "429"} if route.operation.signed_in else set()
        needed |= {"403", "422", "503"} if route.operation.scope == "company" else set()
        needed |= {"404"} if route.operation.path_types else set()
        needed |= {"400", "408", "413", "415", "422"} if route.operation.body else set()
        needed |= (
            {"507"} if route.operation.writes and route.method != "DELETE" and route.operation.body else set()
        )
        needed |= {"429"} if route.path in ("/api", "/api/health", "/openapi.json", "/api/v2/meta") else set()
        assert needed <= set(responses), route.path
        for status, response in responses.items():
            if status == "default" or int(status) < 400 or int(status) == route.operation.also_shown_with:
                continue
            for code, example in response["content"]["application/json"]["examples"].items():
                assert example["value"]["code"] == code
                assert example["value"]["message"] != code, f"{code} has no example"
                assert int(status) in (STATUS_OF_CODE[code], 400, 413, 415)


async def test_the_served_routes_are_the_declared_ones(world: World) -> None:
    for route in (*V1, *V2):
        path = route.path.replace("{id}", "1").replace("{code}", "X")
        answer = await world.send(route.method, path, {} if route.operation.body else None)
        assert answer.status not in (405, 500), route
    index = (await world.call("GET", "/api", token="", company="")).body
    assert {(line["method"], line["path"]) for line in index["endpoints"]} == {
        (route.method, route.path) for route in (*V1, *V2, *GRAPHQL)
    }


async def test_names_of_operations_are_unique_in_a_version() -> None:
    for routes in (V1, V2, ETSM):
        names = [route.operation.name for route in routes]
        assert len(names) == len(set(names))


async def test_every_event_that_an_operation_declares_is_one(world: World) -> None:
    from wmsd.events.outbox.events import EVENTS

    for route in (*V1, *V2, *ETSM):
        assert set(route.operation.events) <= set(EVENTS)
