"""Parses, plans and executes a GraphQL document, and returns the answer."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import orjson
from graphql import GraphQLError

from wmsd.base.problems import STATUS_OF_CODE, Problem
from wmsd.dispatch.call import Call, Part, Reply
from wmsd.dispatch.dispatcher import Dispatcher
from wmsd.dispatch.idempotency import REPLAYED
from wmsd.interfaces.graphql.execution import Execution, introspect
from wmsd.interfaces.graphql.media_type import RESPONSE, content_type, media_type
from wmsd.interfaces.graphql.parser import Refused, document_of
from wmsd.interfaces.graphql.plans import operation_of, plan_operation
from wmsd.interfaces.openapi.headers import COST

MOST_LISTED: Final = 50
"""The request history stores at most this number of errors of an answer."""
LONGEST_MESSAGE: Final = 400


async def answer(
    dispatcher: Dispatcher, call: Call, *, query: str, variables: dict[str, Any], operation_name: str | None
) -> Reply:
    """Run a document and return its data and errors, or only errors if the document is invalid.

    Raise Problem (405) for a mutation sent by GET.
    """
    try:
        document = document_of(query)
        planned = plan_operation(document, operation_of(document, operation_name), variables)
    except Refused as refused:
        return _refused(call, [_shown(error) for error in refused.errors])
    if planned.is_mutation and call.method == "GET":
        raise Problem("METHOD_NOT_ALLOWED", "Send mutations by POST.", headers={"Allow": "POST"})
    execution = Execution(dispatcher, call, planned)
    await execution.run()
    data, errors = execution.data, execution.errors
    if planned.introspection:
        introspected, found = await asyncio.to_thread(introspect, document, planned, variables)
        data |= introspected
        errors += map(_shown, found)
    call.parts = list(map(_part, errors[:MOST_LISTED]))
    body: dict[str, Any] = {**({"errors": errors} if errors else {}), "data": data}
    headers = {COST: str(planned.cost)}
    if execution.replayed:
        body["extensions"] = {"idempotent_replayed": execution.replayed}
        if len(execution.replayed) == len(planned.plans):
            headers[REPLAYED] = "true"
    return _reply(call, 200, body, headers)


def _part(error: Mapping[str, Any]) -> Part:
    code = error["extensions"]["code"]
    name = ".".join(map(str, error.get("path") or ()))
    status = error["extensions"].get("status", STATUS_OF_CODE.get(code, 400))
    return Part(name[:LONGEST_MESSAGE], status, code, error["message"][:LONGEST_MESSAGE])


def _shown(error: GraphQLError) -> dict[str, Any]:
    found: dict[str, Any] = dict(error.formatted)
    found["extensions"] = {"code": "VALIDATION_FAILED", **found.get("extensions", {})}
    return found


def _refused(call: Call, errors: list[dict[str, Any]]) -> Reply:
    """Return the response for a document that was not run.

    The status is 400, or 200 for older clients that accept only plain JSON.
    """
    return _reply(call, 400 if media_type(call.accept) == RESPONSE else 200, {"errors": errors})


def _reply(call: Call, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(status, orjson.dumps(body), {"Content-Type": content_type(call.accept), **(headers or {})})
