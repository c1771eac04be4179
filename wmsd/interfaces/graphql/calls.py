"""Converts the root fields of a document to calls of the dispatcher, and refused calls to GraphQL errors."""

from collections.abc import Mapping
from typing import Any

import orjson

from wmsd.contract.operation import Operation
from wmsd.dispatch.call import Call, Loaded, Reply
from wmsd.interfaces.graphql.plans import PAGE, Plan
from wmsd.interfaces.graphql.root_fields import DETAIL
from wmsd.interfaces.graphql.shapes import Failed, Json


def call_of(outer: Call, plan: Plan) -> Call:
    """Return the call of the dispatcher for a root field. `outer` is the call that runs the whole document."""
    operation, arguments = plan.operation, plan.arguments
    query = {
        _parameter(plan, name): _text(value)
        for name, value in arguments.items()
        if name not in operation.path_types and name != "input" and value is not None
    }
    if plan.wants_detail:
        query["detail"] = DETAIL
    path = {name: str(arguments[name]) for name in operation.path_types}
    call = inner_call(outer, operation, path=path, query=query)
    call.wants_cursors, call.needed_fields = plan.wants_cursors, plan.needed_fields
    if operation.writes:
        call.method = "POST"
        call.is_counted = False
        call.target = "/".join([outer.target, plan.field.name, *path.values()])
        call.idempotency_key = outer.idempotency_key
        call.key_suffix = f" of a mutation, {plan.key}"
    if operation.body is not None:
        call.load_body = lambda: _loaded(arguments["input"])
    return call


def inner_call(
    outer: Call, operation: Operation, *, path: Mapping[str, str] | None = None, query: Mapping[str, str]
) -> Call:
    """Return a call of `operation`, with the caller and the company of `outer`.

    The rate limit does not count this call, because it has already counted the document.
    """
    return Call(
        operation=operation,
        method="GET",
        target=outer.target,
        address=outer.address,
        request_id=outer.request_id,
        path=path or {},
        query=query,
        has_headers=False,
        token=outer.token,
        session=outer.session,
        is_tried=outer.is_tried,
        company=outer.company,
        operator=outer.operator,
        is_counted=True,
        is_inner=True,
    )


async def _loaded(document: Json) -> Loaded:
    return Loaded(document, {})


def _parameter(plan: Plan, argument: str) -> str:
    if plan.operation.answer == "cursor" and argument in PAGE:
        return PAGE[argument]
    return plan.field.renamed.get(argument, argument)


def argument_names(plan: Plan) -> dict[str, str]:
    """Map the names of REST parameters to the names of GraphQL arguments. Errors contain the REST names."""
    return {_parameter(plan, name): name for name in (*plan.arguments, *PAGE)}


def _text(value: Any) -> str:
    """Return a value as text for a query string. The format is that of REST: commas separate the members of a
    list.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def failed_by(reply: Reply) -> Failed:
    body = orjson.loads(reply.body)
    more = {name: body[name] for name in ("errors", "details") if name in body}
    if "Retry-After" in reply.headers:
        more["retry_after"] = int(reply.headers["Retry-After"])
    return Failed(body["message"], body["code"], {"status": reply.status, **more})
