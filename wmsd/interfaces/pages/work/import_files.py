"""Imports at the pages: a file is uploaded, looked at, confirmed and taken in."""

import io
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from wmsd.base.problems import Problem, not_found
from wmsd.imports import actions as imports
from wmsd.imports.file_kinds import KINDS, MODULE_OF, write_headings
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.rendering import HEADERS, go_to, render_page
from wmsd.interfaces.pages.kit.session_door import Answer, Door
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import CompanyWorkplace, company_workplace
from wmsd.interfaces.pages.work.uploads import Sent, receive_upload

MOST_ARRIVING: Final = 2
"""Files of a company that arrive at the same time."""
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "decimal": ("point", "comma"),
    "delimiter": ("comma", "semicolon", "tab"),
    "encoding": ("utf-8", "utf-16", "windows-1250", "windows-1252", "iso-8859-2"),
}
TYPED: Final = ("kind", *CHOICES, "reason")
BROKEN: Final = "The upload cannot be kept now. Try again, and tell the site admin if it fails again."


class Importing:
    def __init__(self, door: Door) -> None:
        self._door = door
        self._arriving: Counter[str] = Counter()
        """How many files arrive now, by company."""

    async def show(self, request: web.Request) -> web.Response:
        at = await self._at(request)
        return _form(at, {"kind": request.query.get("kind", "")})

    async def upload(self, request: web.Request) -> web.Response:
        """Takes the file, has it looked at, and goes on to what was understood."""
        at = await self._at(request)
        browsers.check_origin(at.person.browser)
        if self._arriving[at.id] >= MOST_ARRIVING:
            raise Problem(
                "INVALID_STATUS", "Other files of this company are arriving. Wait for them, and send it again."
            )
        self._arriving[at.id] += 1
        try:
            place = await at.need(imports.begin_upload)
            most, too_large = place["most_bytes"], place["too_large"]
            sent = await receive_upload(at.person.browser, Path(place["path"]), most, too_large)
        except OSError:
            raise Problem("SERVICE_UNAVAILABLE", BROKEN) from None
        finally:
            self._arriving[at.id] -= 1
            self._arriving += Counter()  # forgets companies of which none arrives
        if not sent.bytes:
            errors = {"file": [_("is empty, or was not chosen")]}
            return _form(at, sent.fields, 422, _("Correct what is marked."), errors)
        answer = await self._look(at, place["id"], sent.fields, sent)
        if not answer.is_good:
            return _form(at, sent.fields, answer.status, answer.body["message"], answer.body.get("errors", {}))
        return go_to(f"{at.address}/imports/uploads/{place['id']}")

    async def one(self, request: web.Request) -> web.Response:
        """What is known of an upload: it is looked at, asked about, imported, or was refused."""
        at = await self._at(request)
        return await self._one(at, request)

    async def choose(self, request: web.Request) -> web.Response:
        """Looks at it again, with what somebody has chosen."""
        at = await self._at(request)
        typed = await browsers.form(at.person.browser)
        found = await self._upload(at, request)
        said = {**found["options"], **found["choices"], "kind": found["kind"], **typed}
        answer = await self._look(at, found["id"], said, None)
        if not answer.is_good:
            return await self._one(at, request, answer)
        return go_to(f"{at.address}/imports/uploads/{found['id']}")

    async def confirm(self, request: web.Request) -> web.Response:
        at = await self._at(request)
        await browsers.form(at.person.browser)
        path = {"upload": request.match_info["upload"]}
        answer = await at.ask(imports.import_upload, path=path, is_counted=True)
        if not answer.is_good:
            return await self._one(at, request, answer)
        return go_to(f"{at.address}/imports/uploads/{path['upload']}")

    async def errors(self, request: web.Request) -> web.Response:
        """All errors as a CSV file."""
        at = await self._at(request)
        path = {"upload": request.match_info["upload"]}
        found = await at.need(imports.get_upload_errors, path=path)
        return _csv(found["csv"], f"errors-{at.code}.csv")

    async def template(self, request: web.Request) -> web.Response:
        """A file with the headings of a kind, to fill in."""
        at = await self._at(request)
        kind = request.match_info["kind"]
        if kind not in _kinds(at):
            raise not_found("page")
        text = io.StringIO()
        write_headings(KINDS[kind], text)
        return _csv(text.getvalue(), f"{kind}.csv")

    async def _at(self, request: web.Request) -> CompanyWorkplace:
        return await company_workplace(self._door, request)

    async def _upload(self, at: CompanyWorkplace, request: web.Request) -> Any:
        return await at.need(imports.get_upload, path={"upload": request.match_info["upload"]}, is_counted=True)

    async def _look(
        self, at: CompanyWorkplace, upload: str, typed: Mapping[str, Any], sent: Sent | None
    ) -> Answer:
        document: dict[str, object] = {name: typed[name] for name in TYPED if typed.get(name)}
        document["complete"] = bool(typed.get("complete"))
        if sent is not None:
            document |= {"file_name": sent.file_name, "bytes": sent.bytes}
        return await at.ask(imports.look_at_upload, path={"upload": upload}, document=document, is_counted=True)

    async def _one(
        self, at: CompanyWorkplace, request: web.Request, refused: Answer | None = None
    ) -> web.Response:
        found = await self._upload(at, request)
        if found["import_id"] is not None and refused is None:
            return go_to(f"{at.address}/imports/{found['import_id']}?done=new")
        return render_page(
            "upload",
            200 if refused is None else refused.status,
            person=at.person,
            at=at,
            current="imports",
            upload=found,
            preview=found["preview"] or {},
            choices=CHOICES,
            refused=None if refused is None else refused.body,
        )


def _kinds(at: CompanyWorkplace) -> list[str]:
    """Those that the person may import here. Raises Problem (403)."""
    if not at.may(imports.begin_upload):
        raise Problem("FORBIDDEN", "Only company admins may import files.")
    return [kind for kind in KINDS if MODULE_OF.get(kind) in (None, *at.modules)]


def _csv(text: str, name: str) -> web.Response:
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}
    return web.Response(text=text, content_type="text/csv", charset="utf-8", headers=headers)


def _form(
    at: CompanyWorkplace,
    typed: Mapping[str, str],
    status: int = 200,
    message: str = "",
    errors: Mapping[str, list[str]] = {},
) -> web.Response:
    return render_page(
        "import",
        status,
        person=at.person,
        at=at,
        current="imports",
        kinds=_kinds(at),
        typed=typed,
        choices=CHOICES,
        message=message,
        errors=errors,
        focus=next(iter(errors), "kind"),
    )
