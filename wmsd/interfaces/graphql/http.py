"""GraphQL over HTTP (the specification of the GraphQL foundation): what requests say, and how refusals look."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from wmsd.app.call import Call, Loaded, Reply
from wmsd.app.site import Site
from wmsd.base.operation import MAX_BODY
from wmsd.base.problems import Problem
from wmsd.base.route import Route
from wmsd.base.strict_json import dumps, loads
from wmsd.interfaces.graphql.serving import GraphqlDesk, media_type, run_graphql
from wmsd.interfaces.http import requests, server
from wmsd.interfaces.http.requests import Network
from wmsd.interfaces.http.web import web

PATH: Final = "/api/graphql"
SCHEMA: Final = f"{PATH}/schema"
ROUTES: Final = (Route("POST", PATH, run_graphql), Route("GET", PATH, run_graphql))


def add_to(app: web.Application, site: Site) -> None:
    site.door.add_desk(GraphqlDesk(site.door))
    handler = partial(_handle, site, server.trusted_proxies(site))
    for route in ROUTES:
        server.add(app, route.method, route.path, handler)
    server.refuse_other_methods(app, PATH, [route.method for route in ROUTES])
    server.add(app, "GET", SCHEMA, _schema)
    server.refuse_other_methods(app, SCHEMA, ["GET"])


async def _handle(site: Site, trusted: Sequence[Network], request: web.Request) -> web.Response:
    call = server.call_of(request, trusted, run_graphql)
    call.accept = request.headers.get("Accept")
    call.load_body = partial(_read, request)
    reply = await site.door.perform(call)
    if "Content-Type" not in reply.headers:
        reply = _as_graphql(call, reply)
    return server.response(reply)


async def _schema(request: web.Request) -> web.Response:
    from wmsd.interfaces.graphql.schema import schema_text  # a start does not need it

    return web.Response(text=schema_text(), content_type="text/plain")


def _as_graphql(call: Call, refusal: Reply) -> Reply:
    """What the door has refused, in the form that clients of GraphQL read."""
    problem = json.loads(refusal.body)
    more = {name: problem[name] for name in ("code", "errors", "details") if name in problem}
    body = {"errors": [{"message": problem["message"], "extensions": more}]}
    kind = {"Content-Type": f"{media_type(call.accept)}; charset=utf-8"}
    return Reply(refusal.status, dumps(body).encode(), {**refusal.headers, **kind})


async def _read(request: web.Request) -> Loaded:
    """The parameters of a request, whichever way it came. Raises Problem (400, 413 or 415)."""
    if request.method == "GET":
        return _parameters(_from_query(request), {})
    document, flaws = await requests.json_body(request, MAX_BODY)
    return _parameters(document, flaws)


def _from_query(request: web.Request) -> dict[str, object]:
    found: dict[str, object] = dict(requests.query(request))
    for name in ("variables", "extensions"):
        text = found.get(name)
        if isinstance(text, str):
            found[name] = loads(f'{{"value":{text or "null"}}}'.encode())[0]["value"]
    return found


def _parameters(document: dict[str, object], flaws: Any) -> Loaded:
    query, variables, name = (document.get(key) for key in ("query", "variables", "operationName"))
    if not isinstance(query, str):
        raise _malformed("Send the document as a string in `query`.")
    if not isinstance(variables, dict | None):
        raise _malformed("`variables` must be an object.")
    if not isinstance(name, str | None):
        raise _malformed("`operationName` must be a string.")
    if not isinstance(document.get("extensions"), dict | None):
        raise _malformed("`extensions` must be an object.")
    return {"query": query, "variables": variables or {}, "operation_name": name or None}, flaws


def _malformed(message: str) -> Problem:
    return Problem("VALIDATION_FAILED", message, status=400)
