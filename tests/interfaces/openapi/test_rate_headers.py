"""A request that fails authentication or access uses up no limit (decisions, section 8), so its reply has no rate
headers. No description promises such headers.
"""

import re
from pathlib import Path

from tests.interfaces.openapi.described import operations
from tests.support.world import UNLIMITED, open_world
from wmsd.dispatch.limits.rate_limits import RATE_HEADERS


async def test_what_is_described_of_a_refused_caller_is_sent(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        of_clients = await world.new_token("admin@example.com", abilities=["clients:read"])
        met = set()
        for name in ("v1", "v2"):
            for route, described in operations(name):
                path = re.sub(r"\{\w+\}", "1", route.path)
                for token in ("wrong",) if route.operation.about_token else ("wrong", of_clients):
                    answer = await world.send(route.method, path, {}, token=token)
                    if answer.status in (401, 403):
                        promised = described["responses"][str(answer.status)]["headers"]
                        is_counted = route.operation.off_because is not None and answer.status == 403
                        for header in RATE_HEADERS:
                            assert (header in promised) == (header in answer.headers or is_counted), route
                        met.add((answer.status, route.operation.name))
        assert len({name for status, name in met if status == 401}) > 50
        assert len({name for status, name in met if status == 403}) > 50
