"""The page Papers, on which admins set what a company's papers contain, and the company's logo.

Every user of the company can load the logo.
"""

import base64
from collections.abc import Mapping
from typing import Any, Final

from wmsd.base.problems import not_found
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.form_fields import Typed, form_of, typed_of
from wmsd.interfaces.pages.kit.forms import (
    IF_MATCH,
    Difference,
    document_of,
    errors_by_field,
    form_differences,
    typed_in,
)
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.rendering import go_to
from wmsd.interfaces.pages.kit.responses import KEY, form_keys, page_of
from wmsd.interfaces.pages.kit.text.language import translate_error
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.work.uploads import receive_upload
from wmsd.warehouse.papers.actions import change_papers, get_logo, get_papers, remove_logo, set_logo
from wmsd.warehouse.papers.logo import MOST_BYTES

PAPERS: Final = "papers"
FILE: Final = "file"
LOGO_HEADERS: Final = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""The headers of the answer with a logo. Browsers may cache it forever, because its address contains the logo's
hash.
"""
DONE: Final = {
    "change": "Settings of printed documents saved.",
    "logo": "Logo saved.",
    "remove": "Logo removed.",
}


async def show(at: Workplace, request: web.Request) -> web.Response:
    at.check(change_papers)
    return await _page(at, done=DONE.get(request.query.get("done", ""), ""))


async def change(at: Workplace, request: web.Request) -> web.Response:
    at.check(change_papers)
    sent = await browsers.form(at.person.browser)
    fields = form_of(change_papers.body)
    typed = typed_in(fields, sent)
    document, errors = await document_of(at, fields, typed, is_change=True)
    if errors:
        answer = Answer(422, {"message": _("Correct the marked fields."), "errors": errors})
    else:
        answer = await at.ask_once(
            change_papers, sent.get(KEY), document=document, if_match=sent.get(IF_MATCH) or None
        )
    return _done(at, "change") if answer.is_good else await _page(at, typed, answer)


async def upload_logo(at: Workplace, request: web.Request) -> web.Response:
    """Set the logo to the sent file. The file is read into memory, because it is small."""
    at.check(set_logo)
    too_large = _("The logo is larger than 200 kB. Make the picture smaller, and upload it again.")
    sent = await receive_upload(at.person.browser, None, MOST_BYTES, too_large)
    if not sent.bytes:
        errors = {FILE: [_("is empty, or was not chosen")]}
        answer = Answer(422, {"message": _("Correct the marked fields."), "errors": errors})
    else:
        document = {FILE: base64.b64encode(sent.content).decode()}
        answer = await at.ask(set_logo, document=document, if_match=sent.fields.get(IF_MATCH) or None)
    return _done(at, "logo") if answer.is_good else await _page(at, refused=answer)


async def take_logo_away(at: Workplace, request: web.Request) -> web.Response:
    at.check(remove_logo)
    sent = await browsers.form(at.person.browser)
    answer = await at.ask(remove_logo, document={}, if_match=sent.get(IF_MATCH) or None)
    return _done(at, "remove") if answer.is_good else await _page(at, refused=answer)


async def serve_logo(at: Workplace, request: web.Request) -> web.Response:
    """Return the logo with the hash in the address, for users of the company."""
    found = await at.need(get_logo)
    if found["sha256"] != request.match_info["sha256"]:
        raise not_found("page")
    file = base64.b64decode(found[FILE])
    return web.Response(body=file, content_type=found["media_type"], headers=LOGO_HEADERS)


def _done(at: Workplace, what: str) -> web.Response:
    return go_to(f"{at.address}/{PAPERS}?done={what}")


async def _page(
    at: Workplace, typed: Typed | None = None, refused: Answer | None = None, done: str = ""
) -> web.Response:
    """Return the page. `typed` has the values of a form that was refused."""
    now = await at.ask(get_papers, is_counted=True)
    papers = now.needed()
    fields = form_of(change_papers.body)
    kept = typed_of(fields, papers, {})
    body: Mapping[str, Any] = {} if refused is None else refused.body
    is_changed = refused is not None and refused.status == 412
    wrong = dict(body.get("errors", {}))
    of_file = {FILE: wrong.pop(FILE)} if FILE in wrong else {}
    errors, others = errors_by_field(fields, typed or {}, wrong)
    differences: list[Difference] = []
    if is_changed and typed is not None:
        differences = await form_differences(at, fields, kept, typed)
    return page_of(
        at,
        "papers",
        PAPERS,
        refused,
        papers=papers,
        fields=fields,
        typed=kept if typed is None else typed,
        hidden={**form_keys(at), IF_MATCH: now.etag or ""},
        message=translate_error(body.get("message", "")),
        is_changed=is_changed,
        errors=errors | of_file,
        others=others,
        differences=differences,
        suggested={},
        done=done,
        focus=next(iter(errors), ""),
    )
