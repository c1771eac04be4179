"""Reads GraphQL requests over HTTP, and formats refusals (specification of the GraphQL Foundation)."""

import json
from functools import partial
from typing import Final

from wmsd.base.problems import FieldErrors, Problem
from wmsd.base.strict_json import dumps, parse_json
from wmsd.contract.route import Route
from wmsd.dispatch.call import Call, LoadBody, Loaded, Reply
from wmsd.dispatch.large_bodies import LargeBodies
from wmsd.dispatch.prepared_answers import Prepared
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.graphql.media_type import JSON, RESPONSE, content_type, media_type
from wmsd.interfaces.graphql.operation import GraphqlService, run_graphql
from wmsd.interfaces.http import requests, server
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.reached_origin import Front

PATH: Final = "/api/graphql"
SCHEMA: Final = f"{PATH}/schema"
ROUTES: Final = (Route("POST", PATH, run_graphql), Route("GET", PATH, run_graphql))


def add_to(app: web.Application, installation: Installation) -> None:
    installation.dispatcher.add_service(GraphqlService(installation.dispatcher))
    handler = partial(_handle, installation, server.front_of(installation))
    for route in ROUTES:
        server.add_route(app, route.method, route.path, handler)
    server.refuse_other_methods(
        app, PATH, [route.method for route in ROUTES], lambda request, reply: in_form(_accept_of(request), reply)
    )
    schema = Prepared(_schema_text, "text/plain; charset=utf-8")
    server.add_open(app, "GET", SCHEMA, partial(server.answer_prepared, schema))
    server.refuse_other_methods(app, SCHEMA, ["GET"])


async def _handle(installation: Installation, front: Front, request: web.Request) -> web.Response:
    call = server.call_of(request, front, run_graphql)
    call.accept = _accept_of(request)
    call.load_body = partial(_read, request, call, installation.dispatcher.bodies)
    reply = await installation.dispatcher.dispatch(call)
    return server.response(in_form(call.accept, reply))


def in_form(accept: str | None, reply: Reply) -> Reply:
    """Return the reply as a GraphQL response. A reply that is already a GraphQL response stays unchanged."""
    return reply if "Content-Type" in reply.headers else _as_graphql(accept, reply)


def _accept_of(request: web.Request) -> str | None:
    return requests.header_value(request.headers, "Accept")


def _schema_text() -> bytes:
    from wmsd.interfaces.graphql.schema import schema_text  # imported here: the server can start without it

    return schema_text().encode()


def _as_graphql(accept: str | None, refused: Reply) -> Reply:
    """Convert a refusal from the format of REST to a GraphQL response. The response is an object with `errors`."""
    problem = json.loads(refused.body)
    more = {name: problem[name] for name in ("code", "errors", "details") if name in problem}
    body = {"errors": [{"message": problem["message"], "extensions": more}]}
    return Reply(refused.status, dumps(body).encode(), {**refused.headers, "Content-Type": content_type(accept)})


async def _read(request: web.Request, call: Call, bodies: LargeBodies) -> Loaded:
    """Return the parameters of a GET or POST request. Raise Problem (406) if the client accepts neither media
    type.

    Also raise the errors of `parameters_of`.
    """
    if media_type(call.accept) is None:
        raise requests.malformed(406, f"Accept {RESPONSE} or {JSON}.")
    return await parameters_of(lambda: _document(request, call, bodies))


async def parameters_of(load: LoadBody) -> Loaded:
    """Call `load` to read the request, and return its GraphQL parameters. Raise Problem (400) if they are invalid.

    If `load` raises Problem (422), change its status to 400 and raise it. Raise other errors of `load` unchanged.
    """
    try:
        return _parameters(await load())
    except Problem as problem:
        if problem.status == 422:  # 422 is the status of REST; GraphQL answers 400 for everything malformed
            problem.status = 400
        raise


async def _document(request: web.Request, call: Call, bodies: LargeBodies) -> Loaded:
    if call.method == "GET":
        return _from_query(request)
    return await requests.json_body(request, call, bodies)


def _from_query(request: web.Request) -> Loaded:
    sent = requests.query(request)
    document: dict[str, object] = dict(sent)
    text_errors: FieldErrors = {}
    for name in ("variables", "extensions"):
        document[name] = None
        if sent.get(name, "") not in ("", "null"):
            document[name], inside, _ = _object(name, sent[name])
            text_errors |= {f"{name}.{path}": sentences for path, sentences in inside.items()}
    return Loaded(document, text_errors)


def _object(name: str, text: str) -> Loaded:
    try:
        return Loaded(*parse_json(text.encode()))
    except Problem:
        raise requests.malformed(400, f"`{name}` must be a JSON object.") from None


def _parameters(loaded: Loaded) -> Loaded:
    document = loaded.document
    query, variables, name = (document.get(key) for key in ("query", "variables", "operationName"))
    if not isinstance(query, str):
        raise requests.malformed(400, "Send the document as a string in `query`.")
    if not isinstance(variables, dict | None):
        raise requests.malformed(400, "`variables` must be an object.")
    if not isinstance(name, str | None):
        raise requests.malformed(400, "`operationName` must be a string.")
    if not isinstance(document.get("extensions"), dict | None):
        raise requests.malformed(400, "`extensions` must be an object.")
    read: dict[str, object] = {"query": query, "variables": variables or {}, "operation_name": name or None}
    return loaded._replace(document=read)
