"""The last requests of a company: what was sent, what wmsd answered, and why it refused a request."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

from wmsd.base.problems import STATUS_OF_CODE
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.rendering import go_to
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.text.language import BETWEEN_SENTENCES, translate_error
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.request_history import curl
from wmsd.request_history.actions import get_request, list_requests
from wmsd.request_history.history import READS_A_SECOND
from wmsd.request_history.schema import LONGEST_ID, STATUSES

BETWEEN_FIELDS: Final = "; "
PER_PAGE: Final = 50
FILTERS: Final = ("status", "operation", "token", "code")
ID: Final = "request_id"
NOT_KEPT: Final = (
    "No stored request that you may see has this id. wmsd does not store requests with a wrong "
    "token, company, address or method: their answers say what to do. Members see only the requests "
    "of their own tokens."
)


def in_words(text: str | None) -> str:
    """Translate a reason or a remedy into the language of the page. A text without a translation stays English."""
    if not text:
        return ""
    whole = translate_error(text)
    if whole != text:
        return whole
    return " ".join(map(_sentence, BETWEEN_SENTENCES.split(text)))


def _sentence(text: str) -> str:
    """Return a sentence in the language of the page.

    After a colon, the sentence may have a list of fields with errors. Then each part is translated separately.
    """
    whole = translate_error(text)
    said, colon, wrong = text.partition(": ")
    if whole != text or not colon:
        return whole
    message = translate_error(f"{said}.")
    fields = BETWEEN_FIELDS.join(map(_field, wrong.removesuffix(".").split(BETWEEN_FIELDS)))
    return text if message == f"{said}." else f"{message.removesuffix('.')}: {fields}."


def _field(text: str) -> str:
    if text.startswith("and "):
        return translate_error(text)
    name = "the body" if text.startswith("the body ") else text.partition(" ")[0]
    return f"{translate_error(name)} {translate_error(text.removeprefix(name).lstrip())}"


async def show(at: Workplace, request: web.Request) -> web.Response:
    """Show the list of requests. If a person has typed the id of a request, redirect to this request."""
    typed = request.query.get(ID, "").strip()
    if typed:
        found = await at.ask(get_request, path={ID: typed[:LONGEST_ID]})
        if found.is_good:
            return go_to(f"{at.address}/requests/{quote(found.body['id'], safe='')}")
        return _list(at, request, found, typed)
    return _list(at, request, await at.ask(list_requests, query=_query(request.query)))


async def one(at: Workplace, request: web.Request) -> web.Response:
    found = await at.ask(get_request, path={ID: request.match_info[ID]})
    if found.status == 404:
        return _list(at, request, found, request.match_info[ID])
    kept = found.needed()
    return page_of(
        at,
        "request",
        "requests",
        request={**kept, "why": in_words(kept["why"]), "remedy": in_words(kept["remedy"])},
        body=laid_out(kept["body"]),
        answer=laid_out(kept["answer"]),
        curl=curl.line(kept, at.person.browser.origin),
        is_whole=curl.is_whole(kept),
        was_not_read=curl.was_not_read(kept),
    )


def _query(given: Mapping[str, str]) -> dict[str, str]:
    """Return the query for the operation that lists requests."""
    sent = {name: given[name].strip() for name in (*FILTERS, "cursor") if given.get(name, "").strip()}
    return {**sent, "per_page": str(PER_PAGE)}


def _list(at: Workplace, request: web.Request, found: Answer, typed: str = "") -> web.Response:
    """Return the page with the list of requests. If `found` is an error, the page shows the error instead.

    `typed` is the request id that a person has typed and that cannot be found, or "".
    """
    body = found.body if found.is_good else {"data": [], "next_cursor": None}
    given = {name: request.query[name] for name in FILTERS if request.query.get(name)}
    message = (
        None if found.is_good else _(NOT_KEPT) if found.status == 404 else translate_error(found.body["message"])
    )
    after = body["next_cursor"]
    return page_of(
        at,
        "requests",
        "requests",
        status=found.status,
        requests=[{**each, "why": in_words(each["why"])} for each in body["data"]],
        given=given,
        typed=typed,
        message=message,
        errors={} if found.is_good else found.body.get("errors", {}),
        statuses=STATUSES,
        reads_a_second=READS_A_SECOND,
        codes=sorted(STATUS_OF_CODE),
        after=None if after is None else f"{at.address}/requests?{urlencode({**given, 'cursor': after})}",
        with_filter=lambda name, value: f"{at.address}/requests?{urlencode({**given, name: value})}",
    )


def laid_out(text: str | None) -> str | None:
    """Return JSON text with one field per line. Return None if `text` is None.

    Return the text unchanged if it is not JSON, or if an object in it has the same field twice.
    """
    if text is None:
        return None
    try:
        document = json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return text
    return json.dumps(document, ensure_ascii=False, indent=2)


def _object(fields: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(fields)
    if len(found) < len(fields):
        raise ValueError("a field is given twice")
    return found
