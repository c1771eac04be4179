"""An unknown address: its 404 names the address that may be meant, and nothing is redirected."""

import pytest

from tests.support.world import World
from wmsd.contract.near_paths import NOWHERE

WRONG = {
    "/api/articles/?search=x": "/api/articles, without the slash at the end",
    "//api/articles": "/api/articles, without the double slash",
    "/api/v2/sales-order/5/status": "/api/v2/sales-orders/5/status",
    "/api/v1/graphql": "/api/graphql",
    "/api/auth/token/": "/api/auth/token, without the slash at the end",
    "/openapi.json/": "/openapi.json, without the slash at the end",
}


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
async def test_an_address_of_the_api(world: World, method: str) -> None:
    for path, meant in WRONG.items():
        answer = await world.send(method, path)
        assert answer.status == 404
        assert answer.body == {"message": f"{NOWHERE} Did you mean {meant}?", "code": "NOT_FOUND"}
        assert "Location" not in answer.headers
        assert "X-Request-Id" in answer.headers


async def test_an_address_that_lacks_the_front_of_the_api(world: World) -> None:
    for path, meant in {
        "/articles": "/api/articles",
        "/v2/stock": "/api/v2/stock",
        "/API/health": "/api/health",
    }.items():
        answer = await world.send("GET", path)
        assert (answer.status, answer.raw.decode()) == (404, f"{NOWHERE} Did you mean {meant}?\n")
    for path in ("/nothing", "/favicon.png", "//nothing", "/" + "a" * 5000, "/articles" * 500):
        assert (await world.send("GET", path)).raw == b"Not Found.\n"


async def test_an_address_in_a_batch(world: World) -> None:
    batch = {"requests": [{"method": "GET", "path": "/api/v2/stocks"}, {"method": "GET", "path": "/api/v2/x"}]}
    near, far = (await world.call("POST", "/api/v2/batch", batch)).body["responses"]
    assert near["body"]["message"] == f"{NOWHERE} Did you mean /api/v2/stock?"
    assert far["body"]["message"] == NOWHERE
