"""Requests handed to the one door itself: what a server does without HTTP, for tests that make thousands."""

import json
from functools import partial
from typing import Any

from yarl import URL

from tests.support.world import Answer, World
from wmsd.app.call import Call, Loaded
from wmsd.base.route import RouteTable
from wmsd.base.strict_json import loads
from wmsd.interfaces.http.requests import read_query
from wmsd.interfaces.service import ROUTES

TABLE = RouteTable(ROUTES)


async def perform(world: World, method: str, path: str, body: Any = None, key: str | None = None) -> Answer:
    """`path` may have a query; `key` is the Idempotency-Key."""
    target = path.partition("?")[0]
    route, parts = TABLE.find(method, target)
    call = Call(
        operation=route.operation,
        method=method,
        target=target,
        address="127.0.0.1",
        request_id="test",
        path=parts,
        query=read_query(URL(path, encoded=True)),
        load_body=partial(_load, json.dumps(body).encode()),
        token=world.token,
        company=str(world.company),
        idempotency_key=key,
    )
    reply = await world.site.door.perform(call)
    return Answer(reply.status, reply.headers, reply.body)


async def _load(raw: bytes) -> Loaded:
    return Loaded(*loads(raw))
