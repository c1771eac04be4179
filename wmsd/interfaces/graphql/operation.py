"""The operation that runs GraphQL documents. Before it runs, the dispatcher admits and counts the request."""

import asyncio
from types import ModuleType
from typing import Any

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.contract.context import Company
from wmsd.contract.fields import Model
from wmsd.contract.operation import operation
from wmsd.dispatch.call import Call, Reply
from wmsd.dispatch.dispatcher import Dispatcher


class GraphqlAnswer(Model):
    """A GraphQL response."""

    data: dict[str, Any] | None
    errors: list[dict[str, Any]]


@dataclass(slots=True)
class GraphqlService:
    dispatcher: Dispatcher
    _answering: ModuleType | None = None

    async def answering(self) -> ModuleType:
        """Return the module that answers documents.

        The module is imported on a thread at the first request, because the import takes a fifth of a second.
        """
        if self._answering is None:
            self._answering = await asyncio.to_thread(_imported)
        return self._answering


def _imported() -> ModuleType:
    from wmsd.interfaces.graphql import answer as answering
    from wmsd.interfaces.graphql import schema

    schema.schema()
    return answering


@operation(
    tag="GraphQL", answer="object", returns=GraphqlAnswer, scope="platform", limit="graphql", ignores_query=True
)
async def run_graphql(service: GraphqlService, call: Call, company: Company | None) -> Reply:
    """Run a GraphQL document.

    Records, abilities, modules, rules and events are the same as in REST. If the document was run, the status is
    200, and `errors` lists the failures in the document. Each failure has the `code` that REST returns.
    """
    assert call.load_body is not None
    request, text_errors, _ = await call.load_body()
    if text_errors:
        first, sentences = next(iter(text_errors.items()))
        raise Problem(
            "VALIDATION_FAILED", f"In the request, {first} {sentences[0]}.", status=400, errors=text_errors
        )
    answering = await service.answering()
    reply: Reply = await answering.answer(service.dispatcher, call, **request)
    return reply
