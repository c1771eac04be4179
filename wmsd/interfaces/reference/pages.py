"""The pages of the reference. Readers need no sign-in.

One page has the contents with the search. Each group of operations and each operation has a page. Further pages
are about errors, events, abilities and modules.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, TypeVar

from wmsd import docs
from wmsd.base.client_addresses import Network
from wmsd.base.lazy_value import LazyValue
from wmsd.base.problems import STATUS_OF_CODE, not_found, or_not_found
from wmsd.base.strict_json import dumps
from wmsd.contract.access import MODULES
from wmsd.dispatch.limits.work_admission import WorkAdmission
from wmsd.dispatch.prepared_answers import Prepared
from wmsd.events.outbox.events import EVENTS
from wmsd.interfaces.http import requests
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.server import answer_prepared
from wmsd.interfaces.openapi.error_responses import EXAMPLES
from wmsd.interfaces.pages.kit.prepared_pages import PreparedPages
from wmsd.interfaces.pages.kit.rendering import render_text
from wmsd.interfaces.pages.kit.routing import add_visited
from wmsd.interfaces.pages.kit.search_pages import Make, SearchPages
from wmsd.interfaces.pages.kit.text import language
from wmsd.interfaces.reference import contents_search
from wmsd.interfaces.reference.code_examples import programs_of
from wmsd.interfaces.reference.contents_search import Section
from wmsd.interfaces.reference.operations import ADDRESS, Described, Group, Reference, pretty

if TYPE_CHECKING:
    from graphql import GraphQLNamedType

GUIDE: Final = files(docs) / "errors.md"
PARAGRAPH: Final = re.compile(r"^## ([A-Z_]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
STATUS: Final = re.compile(r"\s*Status \d+\.\s*")
GRAPHQL_NAMES: Final = "/graphql-names.json"
GRAPHQL_ROOTS: Final = ("Query", "Mutation")
FURTHER: Final = (
    ("errors", "Errors"),
    ("webhook-events", "Webhook events"),
    ("access", "Abilities and modules"),
    ("graphql", "GraphQL"),
)
"""The pages that are not about a group of operations. Each has its name in addresses, and its title."""
Named = TypeVar("Named", Described, Group)
MOST_NAMED: Final = 12
"""The page about errors lists the operations that can return an error code, if there are at most this many.

A code with more operations can be returned by almost every operation.
"""


class Pages:
    def __init__(self, reference: LazyValue[Reference], trusted: Sequence[Network], work: WorkAdmission) -> None:
        """Create the pages. `trusted` are the proxies that report the client's address. `work` limits how many
        searches run at the same time.
        """
        self._reference = reference
        self._trusted = trusted
        self._found = SearchPages(work)
        self._sections: tuple[Section, ...] = ()
        self._pages = PreparedPages()

    def add_to(self, app: web.Application) -> None:
        for path, handler in (
            ("", self._contents),
            ("/errors", partial(self._fixed, _errors)),
            ("/webhook-events", partial(self._fixed, _events)),
            ("/access", partial(self._fixed, _access)),
            ("/graphql", self._graphql),
            ("/graphql/{type:[A-Za-z0-9]{1,80}}", self._graphql),
            (GRAPHQL_NAMES, partial(answer_prepared, Prepared(_graphql_names))),
            ("/{group}", self._group),
            ("/{group}/{operation}", self._operation),
        ):
            add_visited(app, "guide", "GET", f"{ADDRESS}{path}", handler)

    async def _contents(self, request: web.Request) -> web.Response:
        query = " ".join(request.query.get("q", "")[: contents_search.LONGEST].split())
        reference = await self._reference.get()
        self._sections = self._sections or contents_search.contents(reference, EVENTS)
        make = partial(_contents, reference, self._sections, query)
        if not query:
            return await self._pages.answer(request, ("contents",), make)

        async def prepared() -> Make:
            return make

        return await self._found.answer((query,), requests.client_address(request, self._trusted), prepared)

    async def _fixed(self, make: Callable[[Reference], str], request: web.Request) -> web.Response:
        reference = await self._reference.get()
        return await self._pages.answer(request, (make.__name__,), lambda: make(reference))

    async def _group(self, request: web.Request) -> web.Response:
        reference = await self._reference.get()
        group = _named(reference.groups, request.match_info["group"])
        return await self._pages.answer(
            request, ("group", group.name), lambda: _shown("group", reference, group.name, group=group)
        )

    async def _operation(self, request: web.Request) -> web.Response:
        reference = await self._reference.get()
        group = _named(reference.groups, request.match_info["group"])
        each = _named(group.operations, request.match_info["operation"])
        return await self._pages.answer(request, (each.name, ""), partial(_of_operation, reference, group, each))

    async def _graphql(self, request: web.Request) -> web.Response:
        """Send the page of a type, or the page of all types."""
        reference, name = await self._reference.get(), request.match_info.get("type", "")
        if name and name not in await asyncio.to_thread(_graphql_types):
            raise not_found("page")
        return await self._pages.answer(request, ("graphql", name), partial(_of_graphql, reference, name))


def _named(known: Iterable[Named], name: str) -> Named:
    """Return the group or operation with this name. Raise Problem (404) if `known` contains no such name."""
    return or_not_found(next((each for each in known if each.name == name), None), "page")


def _shown(template: str, reference: Reference, current: str, **values: Any) -> str:
    """Render a page in English, whatever the reader's language is. The API is English, so all readers share one
    page.
    """
    frame = {"groups": reference.groups, "further": FURTHER, "address": ADDRESS, "current": current}
    token = language.current.set(language.DEFAULT)
    try:
        return render_text(f"reference/{template}", **frame, **values)
    finally:
        language.current.reset(token)


def _contents(reference: Reference, every: Iterable[Section], query: str) -> str:
    asked = contents_search.search_words(query)
    sections = [section for each in every if (section := each.found(asked)).entries]
    return _shown("contents", reference, "contents", sections=sections, query=query, asked=asked)


def _of_operation(reference: Reference, group: Group, described: Described) -> str:
    return _shown(
        "operation",
        reference,
        group.name,
        group=group,
        described=described,
        declared=described.operation,
        examples=programs_of(described),
        answered=None if described.answered is None else pretty(described.answered),
        told=reference.headers,
    )


def _errors(reference: Reference) -> str:
    from wmsd.interfaces.guide.markdown import fragment  # imported at the first page about errors

    paragraphs = dict(PARAGRAPH.findall(GUIDE.read_text(encoding="utf-8")))
    errors = [
        {
            "code": code,
            "status": status,
            "told": fragment(STATUS.sub("", paragraphs[code], count=1)),
            "example": pretty({"message": EXAMPLES[code]["message"], "code": code, **EXAMPLES[code]}),
            "answering": reference.answering(code),
        }
        for code, status in STATUS_OF_CODE.items()
    ]
    return _shown("errors", reference, "errors", errors=errors, most_named=MOST_NAMED)


def _events(reference: Reference) -> str:
    emitting = {event: reference.emitting(event) for event in EVENTS}
    return _shown("events", reference, "webhook-events", events=reference.events, emitting=emitting, pretty=pretty)


def _access(reference: Reference) -> str:
    abilities = {"*": "everything", **reference.abilities}
    needing = {name: [each for each in reference.operations if each.ability == name] for name in abilities}
    return _shown("access", reference, "access", abilities=abilities, modules=MODULES, needing=needing)


@cache
def _graphql_types() -> "Mapping[str, GraphQLNamedType]":
    from wmsd.interfaces.graphql.schema import schema  # imported on a thread, at the first page about GraphQL
    from wmsd.interfaces.reference.graphql_types import types_of

    return types_of(schema())


def _of_graphql(reference: Reference, name: str) -> str:
    """Render the page of the type with this name, or the page of all types if `name` is ""."""
    from graphql import Undefined, get_named_type

    from wmsd.interfaces.reference.graphql_types import kind_of

    types = _graphql_types()
    return _shown(
        "graphql",
        reference,
        "graphql",
        types=types,
        roots=[types[root] for root in GRAPHQL_ROOTS],
        shown=types.get(name),
        kind_of=kind_of,
        named_type=get_named_type,
        none_given=Undefined,
    )


def _graphql_names() -> bytes:
    from wmsd.interfaces.graphql.schema import schema
    from wmsd.interfaces.reference.graphql_types import short

    return dumps(short(schema())).encode()
