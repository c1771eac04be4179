"""Requests that go directly to the dispatcher, without HTTP, for tests that send thousands."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from yarl import URL

from tests.support.world import Answer, World
from wmsd.base.strict_json import parse_json
from wmsd.contract.route import RouteTable
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.call import Call, LoadBody, Loaded
from wmsd.interfaces.http.requests import read_query
from wmsd.interfaces.service import ROUTES

TABLE = RouteTable(ROUTES)


async def dispatch(world: World, method: str, path: str, body: Any = None, key: str | None = None) -> Answer:
    """Dispatch a request. `path` may have a query. `key` is the Idempotency-Key."""
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
    reply = await world.installation.dispatcher.dispatch(call)
    return Answer(reply.status, reply.headers, reply.body)


def call_for(
    world: World,
    method: str,
    action: Callable[[Transaction], Any],
    path: str = "/api/articles",
    is_open: bool = False,
    **changes: Any,
) -> Call:
    """Return a request that runs `action` in its unit of work. `is_open`: the request needs no token."""
    route, _ = TABLE.find(method, path)
    declared = replace(
        route.operation,
        name="try_it",
        action=lambda tx, **_: action(tx),
        body=None,
        takes=frozenset(),
        signed_in=not is_open,
        limit="open" if is_open else route.operation.limit,
    )
    call = Call(declared, method, path, "127.0.0.1", "r-1", token=world.token, company="1")
    return replace(call, **changes)


async def performed(
    world: World, method: str, action: Callable[[Transaction], Any], path: str = "/api/articles", **changes: Any
) -> Answer:
    reply = await world.installation.dispatcher.dispatch(call_for(world, method, action, path, **changes))
    return Answer(reply.status, reply.headers, reply.body)


def creation(world: World, load_body: LoadBody | None) -> Call:
    """Return a request to create an article, with an idempotency key."""
    route, _ = TABLE.find("POST", "/api/articles")
    call = Call(route.operation, "POST", "/api/articles", "127.0.0.1", "r-1", token=world.token, company="1")
    return replace(call, load_body=load_body, idempotency_key="k")


async def _load(raw: bytes) -> Loaded:
    return Loaded(*parse_json(raw))
