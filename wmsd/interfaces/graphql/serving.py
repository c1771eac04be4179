"""The one operation of GraphQL: the door admits it and counts it, then its document is carried out."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import to_json

from wmsd.app.call import Call, Reply
from wmsd.app.door import Door
from wmsd.base.context import Company
from wmsd.base.fields import Model
from wmsd.base.operation import operation
from wmsd.base.problems import Problem
from wmsd.interfaces.graphql.media import RESPONSE, content_type, media_type

LOG: Final = logging.getLogger("wmsd.graphql")


class GraphqlAnswer(Model):
    """A GraphQL response."""

    data: dict[str, Any] | None
    errors: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class GraphqlDesk:
    door: Door


@operation(
    tag="GraphQL", answer="object", returns=GraphqlAnswer, scope="platform", limit="graphql", ignores_query=True
)
async def run_graphql(desk: GraphqlDesk, call: Call, company: Company | None) -> Reply:
    """Run a GraphQL document.

    The records, abilities, modules, rules and events are those of REST. It answers 200 whenever the
    document was run; `errors` tells what went wrong in it, each with the `code` that REST would have answered.
    """
    assert call.load_body is not None
    request, flaws = await call.load_body()
    if flaws:
        first, sentences = next(iter(flaws.items()))
        raise Problem("VALIDATION_FAILED", f"In the request, {first} {sentences[0]}.", status=400, errors=flaws)
    return await _answer(desk, call, _Request(**request))  # type: ignore[arg-type]  # its reader has looked


@dataclass(frozen=True, slots=True)
class _Request:
    query: str
    variables: dict[str, Any]
    operation_name: str | None


async def _answer(desk: GraphqlDesk, call: Call, request: _Request) -> Reply:
    from graphql import GraphQLError

    from wmsd.interfaces.graphql.documents import Refused, document_of
    from wmsd.interfaces.graphql.execution import Execution, introspect
    from wmsd.interfaces.graphql.plans import operation_of, plan

    try:
        document = document_of(request.query)
        planned = plan(document, operation_of(document, request.operation_name), request.variables)
    except Refused as refused:
        return _refused(call, [_shown(error) for error in refused.errors])
    if planned.is_mutation and call.method == "GET":
        raise Problem("METHOD_NOT_ALLOWED", "Send mutations by POST.", headers={"Allow": "POST"})
    execution = Execution(desk.door, call, planned)
    await execution.run()
    data, errors = execution.data, execution.errors
    if planned.introspection:
        told, found = await asyncio.to_thread(introspect, document, planned, request.variables)
        data |= told
        errors += [_shown(error) for error in found if isinstance(error, GraphQLError)]
    body: dict[str, Any] = {**({"errors": errors} if errors else {}), "data": data}
    return _reply(call, 200, body, {"X-Query-Cost": str(planned.cost)})


def _shown(error: Any) -> dict[str, Any]:
    found = dict(error.formatted)
    found["extensions"] = {"code": "VALIDATION_FAILED", **found.get("extensions", {})}
    return found


def _refused(call: Call, errors: list[dict[str, Any]]) -> Reply:
    """A document that was not run: 400, but where plain JSON is asked for 200, as clients of old expect."""
    return _reply(call, 400 if media_type(call.accept) == RESPONSE else 200, {"errors": errors})


def _reply(call: Call, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(status, to_json(body), {"Content-Type": content_type(call.accept), **(headers or {})})
