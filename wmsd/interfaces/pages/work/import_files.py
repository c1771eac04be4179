"""Imports on the pages: a file is uploaded, previewed, confirmed and imported."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from wmsd.base.problems import Problem, not_found
from wmsd.contract.permissions import is_on
from wmsd.imports import actions as imports
from wmsd.imports.file_kinds import KINDS, MODULE_OF, write_headings
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.rendering import as_file, go_to
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.work.uploads import Sent, receive_upload

MOST_ARRIVING: Final = 2
"""The most files that the users of a company may upload at the same time."""
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "decimal": ("point", "comma"),
    "delimiter": ("comma", "semicolon", "tab"),
    "encoding": ("utf-8", "utf-16", "windows-1250", "windows-1252", "iso-8859-2", "cp852", "cp850", "mac-roman"),
}
TYPED: Final = ("kind", *CHOICES, "reason")
BROKEN: Final = "wmsd cannot store the upload now. Try again, and tell a platform admin if the upload fails again."


async def show(
    at: Workplace, request: web.Request, typed: Mapping[str, str] = {}, refused: Answer | None = None
) -> web.Response:
    errors = {} if refused is None else refused.body.get("errors", {})
    return page_of(
        at,
        "import",
        "imports",
        refused,
        kinds=_kinds(at),
        typed=typed or {"kind": request.query.get("kind", "")},
        choices=CHOICES,
        focus=next(iter(errors), "kind"),
    )


async def upload(at: Workplace, request: web.Request) -> web.Response:
    """Receive a file, start its preview, and redirect to the page of the upload."""
    browsers.check_origin(at.person.browser)
    arriving = at.door.arriving
    if arriving[at.address] >= MOST_ARRIVING:
        raise Problem(
            "INVALID_STATUS",
            "Other files of this company are being uploaded. Wait until they are "
            "uploaded, and send your file again.",
        )
    arriving[at.address] += 1
    try:
        place = await at.need(imports.begin_upload)
        most, too_large = place["most_bytes"], place["too_large"]
        sent = await receive_upload(at.person.browser, Path(place["path"]), most, too_large)
    except OSError:
        raise Problem("SERVICE_UNAVAILABLE", BROKEN) from None
    finally:
        arriving[at.address] -= 1
        if not arriving[at.address]:
            del arriving[at.address]
    if sent.bytes:
        answer = await _look(at, place["id"], sent.fields, sent)
    else:
        errors = {"file": [_("is empty, or was not chosen")]}
        answer = Answer(422, {"message": _("Correct the marked fields."), "errors": errors})
    if not answer.is_good:
        return await show(at, request, sent.fields, answer)
    return go_to(f"{at.address}/imports/uploads/{place['id']}")


async def show_upload(at: Workplace, request: web.Request, refused: Answer | None = None) -> web.Response:
    """Show an upload with its preview. If its import has already begun, redirect to the import.

    If a form of this page was refused, `refused` is the answer, and the page shows the error.
    """
    found = await _upload(at, request)
    if found["import_id"] is not None and refused is None:
        return go_to(f"{at.address}/imports/{found['import_id']}?done=new")
    return page_of(
        at,
        "upload",
        "imports",
        refused,
        upload=found,
        preview=found["preview"] or {},
        choices=CHOICES,
        refused=None if refused is None else refused.body,
    )


async def choose(at: Workplace, request: web.Request) -> web.Response:
    """Preview the file again, with the options that the person has chosen."""
    typed = await browsers.form(at.person.browser)
    found = await _upload(at, request)
    said = {**found["options"], **found["choices"], "kind": found["kind"], **typed}
    answer = await _look(at, found["id"], said, None)
    if not answer.is_good:
        return await show_upload(at, request, answer)
    return go_to(f"{at.address}/imports/uploads/{found['id']}")


async def confirm(at: Workplace, request: web.Request) -> web.Response:
    await browsers.form(at.person.browser)
    path = {"upload": request.match_info["upload"]}
    answer = await at.ask(imports.import_upload, path=path, is_counted=True)
    if not answer.is_good:
        return await show_upload(at, request, answer)
    return go_to(f"{at.address}/imports/uploads/{path['upload']}")


async def errors(at: Workplace, request: web.Request) -> web.Response:
    """Send all errors in the uploaded file as a CSV file."""
    path = {"upload": request.match_info["upload"]}
    found = await at.need(imports.get_upload_errors, path=path)
    return as_file(found["csv"].encode(), "text/csv", f"errors-{at.code}.csv", "utf-8")


async def template(at: Workplace, request: web.Request) -> web.Response:
    """Send a CSV file that has only the headings for a kind of record. People fill it in."""
    kind = request.match_info["kind"]
    if kind not in _kinds(at):
        raise not_found("page")
    text = io.StringIO()
    write_headings(KINDS[kind], text)
    return as_file(text.getvalue().encode(), "text/csv", f"{kind}.csv", "utf-8")


async def _upload(at: Workplace, request: web.Request) -> Any:
    return await at.need(imports.get_upload, path={"upload": request.match_info["upload"]}, is_counted=True)


async def _look(at: Workplace, upload: str, typed: Mapping[str, Any], sent: Sent | None) -> Answer:
    document: dict[str, object] = {name: typed[name] for name in TYPED if typed.get(name)}
    document["complete"] = bool(typed.get("complete"))
    if sent is not None:
        document |= {"file_name": sent.file_name, "bytes": sent.bytes}
    return await at.ask(imports.look_at_upload, path={"upload": upload}, document=document, is_counted=True)


def _kinds(at: Workplace) -> list[str]:
    """Return the kinds of records that the person may import into the company.

    Raise Problem (403) if the person may not import files.
    """
    if not at.may(imports.begin_upload):
        raise Problem("FORBIDDEN", "Only company admins may import files.")
    return [kind for kind in KINDS if is_on(MODULE_OF.get(kind), at.permissions.modules)]
