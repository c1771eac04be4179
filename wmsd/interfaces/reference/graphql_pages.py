"""GraphQL in the reference: the schema browser, and the editor that sends documents."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from wmsd.base.dataclass import dataclass
from wmsd.base.lazy_value import LazyValue
from wmsd.base.problems import not_found
from wmsd.base.strict_json import dumps
from wmsd.dispatch.idempotency import HEADER as KEY
from wmsd.dispatch.prepared_answers import Prepared
from wmsd.interfaces.graphql import over_http
from wmsd.interfaces.graphql.media_type import JSON, RESPONSE
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.server import response, unless_known
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.browser import FORM_TOKEN
from wmsd.interfaces.pages.kit.page_client import PageClient, Person
from wmsd.interfaces.pages.kit.rendering import HEADERS, render_page
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import CompanyWorkplace, company_at
from wmsd.interfaces.reference.operations import ADDRESS, Described, Place, Reference
from wmsd.interfaces.reference.pages import HTML, frame, in_english
from wmsd.interfaces.reference.try_out_call import Sender, Sent, Tried
from wmsd.interfaces.reference.try_out_page import (
    LARGEST_BODY,
    LARGEST_FORM,
    MOST_COMPANIES,
    Subject,
    Typed,
    companies_of,
    form_after,
    form_errors,
    made_beside,
    new_key,
    result_of,
    sent_of,
)

if TYPE_CHECKING:
    from wmsd.interfaces.reference.graphql_types import TypeShown

TRY: Final = "/try/graphql"
SCHEMA: Final = f"{ADDRESS}/graphql-names.json"
ACCEPT: Final = f"{RESPONSE}, {JSON}"
ROOTS: Final = ("Query", "Mutation")
EXAMPLE: Final = """\
query Shelf($first: Int!) {
  articles(first: $first) {
    nodes { code name stock { warehouse { code } available } }
    pageInfo { hasNextPage endCursor }
  }
}"""
VARIABLES: Final = '{"first": 5}'


@cache
def _types() -> "Mapping[str, TypeShown]":
    from wmsd.interfaces.graphql.schema import schema  # imported on a thread, when somebody asks for it
    from wmsd.interfaces.reference.graphql_types import types_of

    return types_of(schema())


def _short() -> bytes:
    from wmsd.interfaces.graphql.schema import schema
    from wmsd.interfaces.reference.graphql_types import short

    return dumps(short(schema())).encode()


class SchemaBrowser:
    """Pages of the schema, for everybody."""

    def __init__(self, reference: LazyValue[Reference]) -> None:
        self._reference = reference
        self._prepared: dict[str, Prepared] = {}
        self._short = Prepared(_short)

    async def overview(self, request: web.Request) -> web.Response:
        return await self._page(request, "")

    async def type(self, request: web.Request) -> web.Response:
        name = request.match_info["type"]
        if name not in await asyncio.to_thread(_types):
            raise not_found("page")
        return await self._page(request, name)

    async def short(self, request: web.Request) -> web.Response:
        return response(unless_known(request, await self._short.reply()))

    async def _page(self, request: web.Request, name: str) -> web.Response:
        """That of a type, or of all. There are as many as types."""
        reference = await self._reference.get()
        if name not in self._prepared:

            def make() -> bytes:
                types = _types()
                shown = {"types": types, "roots": [types[root] for root in ROOTS], "shown": types.get(name)}
                return in_english("graphql", **frame(reference, "graphql"), **shown).encode()

            self._prepared[name] = Prepared(make, HTML)
        reply = await self._prepared[name].reply()
        reply.headers = {**HEADERS, **reply.headers}
        return response(unless_known(request, reply))


@dataclass(frozen=True, slots=True)
class Document(Subject):
    """A document of somebody, as a subject of the try-out."""

    @property
    def address(self) -> str:
        return TRY


class Editor:
    def __init__(self, door: PageClient, reference: LazyValue[Reference], sender: Sender) -> None:
        self._door = door
        self._reference = reference
        self._sender = sender

    async def show(self, request: web.Request) -> web.Response:
        document = await self._document(request, request.query.get("company", ""))
        typed = {"query": EXAMPLE, "variables": VARIABLES, f"header-{KEY}": new_key()}
        return await self._page(document, typed)

    async def do(self, request: web.Request) -> web.Response:
        person = await self._door.person(request)
        typed = await browsers.form(person.browser, largest=LARGEST_FORM)
        token = typed.pop("token", "").strip()
        document = await self._document(request, typed.get("company", ""))
        errors = form_errors(document, typed, token)
        variables = typed.get("variables", "").strip()
        if variables and not _is_object(variables):
            errors["variables"] = _("must be an object, as JSON")
        query = json.dumps(typed.get("query", "").replace("\r\n", "\n"), ensure_ascii=False)
        text = f'{{"query": {query}, "variables": {variables}}}' if variables else f'{{"query": {query}}}'
        if len(text.encode()) > LARGEST_BODY:
            errors["query"] = _("is over %(size)s kB with its variables") % {"size": LARGEST_BODY // 1024}
        if errors:
            return await self._page(document, typed, errors=errors, status=422)
        sent = replace(
            sent_of(document, {**typed, "body": text}, token),
            accept=ACCEPT,
            body=text,
            read=over_http.parameters_of,
            answered=over_http.in_form,
        )
        tried = await self._sender.send(person.browser, sent)
        return await self._page(document, typed, sent=sent, tried=tried)

    async def _document(self, request: web.Request, company_id: str) -> Document:
        person = await self._door.person(request)
        companies = await companies_of(self._door, person)
        if not company_id and len(companies) == 1:
            company_id = str(companies[0]["id"])
        at = await company_at(self._door, person, company_id) if company_id else None
        return _of(person, at)

    async def _page(
        self,
        document: Document,
        typed: Typed,
        *,
        status: int = 200,
        errors: Mapping[str, str] = {},
        sent: Sent | None = None,
        tried: Tried | None = None,
    ) -> web.Response:
        companies = await companies_of(self._door, document.person)

        def make() -> web.Response:
            return render_page(
                "reference/try_graphql",
                status,
                person=document.person,
                **({} if document.at is None else {"at": document.at}),
                company=document.at,
                current="api",
                address=TRY,
                schema=SCHEMA,
                companies=companies if len(companies) <= MOST_COMPANIES else None,
                typed=typed if tried is None else form_after(document, typed, tried),
                errors=errors,
                focus=next(iter(errors), ""),
                key=f"header-{KEY}",
                hidden={FORM_TOKEN: document.person.browser.form_token},
                largest=LARGEST_BODY // 1024,
                tried=tried,
                **result_of(document, sent, tried, is_graphql=True),
            )

        return await made_beside(make, tried)


def _is_object(text: str) -> bool:
    """What is in it, the operation looks at: it reads the text itself."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


@cache
def _described() -> Described:
    """The operation that runs documents."""
    from wmsd.interfaces.reference.schema_rows import Row

    headers = tuple(Row(name, "string", False) for name in ("X-Company-Id", "X-Three-Pl-Id", KEY))
    (route,) = (each for each in over_http.ROUTES if each.method == "POST")
    places = (Place("graphql", route),)
    return Described(route.operation, places, None, (), (), (), headers, (), (), (), None, None)


def _of(person: Person, at: CompanyWorkplace | None) -> Document:
    described = _described()
    return Document(person, described, described.places[0], at)
