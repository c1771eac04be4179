"""Pages for people: the first admin's form, and the guide at /docs."""

import asyncio
import html
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from string import Template
from typing import Final
from urllib.parse import parse_qsl

from wmsd import docs
from wmsd.accounts import first_admin
from wmsd.accounts.schema import NewUser
from wmsd.accounts.strength import SHORTEST, password_errors
from wmsd.app.installation import Installation
from wmsd.app.prepared import Prepared
from wmsd.base.problems import FieldErrors, Problem
from wmsd.base.validation import check
from wmsd.interfaces.http import requests
from wmsd.interfaces.http.server import add_open, response, unless_known
from wmsd.interfaces.http.web import web

DOCS: Final = Path(docs.__file__).parent
FRAME: Final = Template((Path(__file__).parent / "frame.html").read_text(encoding="utf-8"))
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
FIRST_ADMIN: Final = "/first-admin"
LARGEST_FORM: Final = 8 * 1024
MOST_FIELDS: Final = 10


def add_to(app: web.Application, installation: Installation, reference: Callable[[], str]) -> None:
    """Adds the pages. `reference` makes the API reference as Markdown; it runs when somebody opens that page."""
    first = FirstAdmin(installation)
    add_open(app, "GET", "/", _home)
    add_open(app, "GET", FIRST_ADMIN, first.show)
    add_open(app, "POST", FIRST_ADMIN, first.redeem)
    guide = {file.stem: _rendered(partial(file.read_text, encoding="utf-8")) for file in sorted(DOCS.glob("*.md"))}
    guide["api"] = _rendered(reference)
    add_open(app, "GET", "/docs", partial(_guide, guide))
    add_open(app, "GET", "/docs/{name}", partial(_guide, guide))


def page(title: str, body: str, status: int = 200) -> web.Response:
    """A page. `body` is HTML; the caller has escaped all outside text in it."""
    return web.Response(status=status, text=_framed(title, body), content_type="text/html", headers=HEADERS)


def _framed(title: str, body: str) -> str:
    return FRAME.substitute(title=html.escape(title), body=body)


async def _home(request: web.Request) -> web.Response:
    raise web.HTTPFound("/today")


async def _guide(guide: Mapping[str, Prepared], request: web.Request) -> web.Response:
    found = guide.get(request.match_info.get("name", "index"))
    if found is None:
        raise web.HTTPNotFound
    reply = await found.reply()
    reply.headers = {**HEADERS, **reply.headers}
    return response(unless_known(request, reply))


def _rendered(markdown: Callable[[], str]) -> Prepared:
    """A page of the guide. It is rendered once, because that takes up to 30 ms."""

    def make() -> bytes:
        from wmsd.interfaces.http.markdown import to_html  # imported only when somebody reads the guide

        text = markdown()
        title = text.partition("\n")[0].lstrip("# ")
        return _framed(title, to_html(text)).encode()

    return Prepared(make, "text/html; charset=utf-8")


class FirstAdmin:
    """The page behind the one-time link that `serve` prints."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation

    async def show(self, request: web.Request) -> web.Response:
        code = request.query.get("code", "")
        if not await self._installation.platform.read(lambda tx: first_admin.is_open(tx, code)):
            return _spent()
        return page("The first admin", _form(code, {}, {}))

    async def redeem(self, request: web.Request) -> web.Response:
        if not await self._installation.platform.read(first_admin.is_offered):
            return _spent()
        sent = await _form_fields(request)
        code = sent.pop("code", "")
        if not await self._installation.platform.read(lambda tx: first_admin.is_open(tx, code)):
            return _spent()
        errors = await asyncio.to_thread(_password_errors, sent)
        new: NewUser | None = None
        try:
            new = check(
                NewUser,
                {"email": sent.get("email"), "name": sent.get("name"), "role": "platform-admin"},
            )
        except Problem as problem:
            errors |= problem.errors
        if errors or new is None:
            return page("The first admin", _form(code, sent, errors), 422)
        admin = new
        password_hash = await self._installation.passwords.hash(sent["password"])
        try:
            await self._installation.platform.write(lambda tx: first_admin.redeem(tx, code, admin, password_hash))
        except Problem as problem:
            if problem.errors:
                return page("The first admin", _form(code, sent, problem.errors), 422)
            return _spent()
        return page("Welcome", _done(admin.email))


async def _form_fields(request: web.Request) -> dict[str, str]:
    """The fields of the form. Raises Problem: 415, 413 or 408, and 400 for a form that no browser sends."""
    if request.content_type != "application/x-www-form-urlencoded":
        raise Problem("VALIDATION_FAILED", "Send the form of this page as a browser does.", status=415)
    try:
        raw = (await requests.body(request, LARGEST_FORM)).decode()
        return dict(parse_qsl(raw, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"))
    except ValueError:
        raise Problem("VALIDATION_FAILED", "The form cannot be read; send it again.", status=400) from None


def _password_errors(sent: dict[str, str]) -> FieldErrors:
    password = sent.get("password", "")
    if errors := password_errors(password, sent.get("email", ""), sent.get("name", "")):
        return errors
    return {} if password == sent.get("again") else {"again": ["is not the same as the password"]}


FIELDS: Final = (
    ("name", "Your name", "text", "name"),
    ("email", "E-mail address", "email", "username"),
    ("password", f"Password, at least {SHORTEST} characters", "password", "new-password"),
    ("again", "The password again", "password", "new-password"),
)


def _form(code: str, sent: dict[str, str], errors: FieldErrors) -> str:
    rows = []
    for name, label, kind, autocomplete in FIELDS:
        value = "" if kind == "password" else html.escape(sent.get(name, ""), quote=True)
        wrong = "".join(f'<span class="wrong">{html.escape(text)}</span>' for text in errors.get(name, []))
        rows.append(
            f'<label>{label}<input name="{name}" type="{kind}" value="{value}" autocomplete="{autocomplete}" '
            f"required>{wrong}</label>"
        )
    return (
        "<h1>The first admin</h1><p>This installation has no admin yet. The link that brought you here works "
        f'once.</p><form method="post" action="{FIRST_ADMIN}">'
        f'<input type="hidden" name="code" value="{html.escape(code, quote=True)}">{"".join(rows)}'
        "<button>Make me the admin</button></form>"
    )


def _done(email: str) -> str:
    return (
        f"<h1>Welcome</h1><p>{html.escape(email)} is the admin of this installation.</p>"
        '<p><a href="/sign-in">Sign in</a></p>'
        "<p>Then, at the command line, make a company and a token:</p>"
        "<pre>wmsd company create ACME --name 'Acme' --all-modules\n"
        f"wmsd token create --user {html.escape(email)} --ability '*' --company ACME</pre>"
        '<p><a href="/docs">Read the guide</a></p>'
    )


def _spent() -> web.Response:
    return page(
        "This link does not work any more",
        "<h1>This link does not work any more</h1><p>It was used already, or is older than a day. While there is "
        "no admin, <code>wmsd serve</code> prints a new one at every start.</p>",
        404,
    )
