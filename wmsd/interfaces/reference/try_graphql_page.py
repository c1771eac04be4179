"""The try-out of GraphQL: an editor for a document and its variables, and the answer."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from wmsd.dispatch.idempotency import HEADER as KEY
from wmsd.interfaces.graphql import over_http
from wmsd.interfaces.graphql.media_type import JSON, RESPONSE
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.reference.operations import Described, Place
from wmsd.interfaces.reference.schema_rows import Row
from wmsd.interfaces.reference.try_out_call import Sent
from wmsd.interfaces.reference.try_out_page import GRAPHQL, LARGEST_BODY, Subject, Trying, Typed, new_key

ACCEPT: Final = f"{RESPONSE}, {JSON}"
EXAMPLE: Final = """\
query Shelf($first: Int!) {
  articles(first: $first) {
    nodes { code name stock { warehouse { code } available } }
    pageInfo { hasNextPage endCursor }
  }
}"""
VARIABLES: Final = '{"first": 5}'


class TryingGraphql(Trying):
    template = "reference/try_graphql"

    async def described(self, request: web.Request) -> tuple[Described, Place]:
        described = _described()
        return described, described.places[0]

    def first_typed(self, subject: Subject, given: Mapping[str, str]) -> Typed:
        return {"query": EXAMPLE, "variables": VARIABLES, f"header-{KEY}": new_key()}

    def body_of(self, subject: Subject, typed: Typed, errors: dict[str, str]) -> str:
        variables = typed.get("variables", "").strip()
        if variables and not _is_object(variables):
            errors["variables"] = _("must be a JSON object")
        query = json.dumps(typed.get("query", "").replace("\r\n", "\n"), ensure_ascii=False)
        text = f'{{"query": {query}, "variables": {variables}}}' if variables else f'{{"query": {query}}}'
        if len(text.encode()) > LARGEST_BODY:
            errors["query"] = _("is over %(size)s kB, together with its variables") % {
                "size": LARGEST_BODY // 1024
            }
        return text

    def sent_of(self, subject: Subject, typed: Typed, token: str, body: str | None) -> Sent:
        sent = super().sent_of(subject, typed, token, body)
        return replace(sent, accept=ACCEPT, read=over_http.parameters_of, answered=over_http.in_form)

    def once(self) -> dict[str, str]:
        """Return no hidden field, because it is safe to send a document twice.

        A document either changes nothing, or has an idempotency key.
        """
        return {}


def _is_object(text: str) -> bool:
    """Return True if the text is a JSON object. The operation itself checks the content of the object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


@cache
def _described() -> Described:
    """Return the description of the operation that runs GraphQL documents."""
    headers = tuple(Row(name, False, {}) for name in ("X-Company-Id", "X-Three-Pl-Id", KEY))
    (route,) = (each for each in over_http.ROUTES if each.method == "POST")
    places = (Place(GRAPHQL, route),)
    return Described(route.operation, places, None, (), (), (), headers, (), (), (), None, None)
