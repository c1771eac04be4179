"""A request leaves no garbage to collect: during a garbage collection, every caller waits."""

import gc
from collections.abc import Iterator

import pytest

from tests.support.world import World
from wmsd.dispatch.call import Call

ARTICLE = {"code": "A", "name": "Apple"}
REQUESTS = {
    "a list": ("GET", "/api/articles", None, 200),
    "a record that is not there": ("GET", "/api/articles/9", None, 404),
    "a new record": ("POST", "/api/articles", ARTICLE, 201),
    "a flawed record": ("POST", "/api/articles", {"code": 1}, 422),
    "a large body with a flaw": ("POST", "/api/articles", {**ARTICLE, "name": "A" * 30_000}, 422),
    "a query that is refused": ("GET", "/api/articles?per_page=x", None, 422),
}


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("name", REQUESTS)
async def test_no_call_is_garbage(world: World, name: str) -> None:
    method, path, body, status = REQUESTS[name]
    await world.call(method, path, body, status=status, events=["article.created"] if status == 201 else ())
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    assert [found for found in gc.garbage if isinstance(found, Call)] == []
