"""Pages for people: the first admin's form, and the guide at /docs."""

import asyncio
import html
from collections.abc import Callable
from functools import partial
from pathlib import Path
from string import Template
from typing import Final

from wmsd import docs
from wmsd.accounts import first_admin
from wmsd.accounts.schema import NewUser
from wmsd.accounts.strength import SHORTEST, password_errors
from wmsd.app.site import Site
from wmsd.base.problems import FieldErrors, Problem
from wmsd.base.validation import check
from wmsd.interfaces.http.server import add
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


def add_to(app: web.Application, site: Site, reference: Callable[[], str]) -> None:
    """`reference` makes the Markdown of the API reference; only who reads it pays for it."""
    first = FirstAdmin(site)
    add(app, "GET", "/", _home)
    add(app, "GET", FIRST_ADMIN, first.show)
    add(app, "POST", FIRST_ADMIN, first.redeem)
    add(app, "GET", "/docs", _guide)
    add(app, "GET", "/docs/api", partial(_reference, reference))
    add(app, "GET", "/docs/{name}", _guide)


def page(title: str, body: str, status: int = 200) -> web.Response:
    """`body` is HTML; whatever came from outside is escaped in it."""
    text = FRAME.substitute(title=html.escape(title), body=body)
    return web.Response(status=status, text=text, content_type="text/html", headers=HEADERS)


async def _home(request: web.Request) -> web.Response:
    raise web.HTTPFound("/docs")


async def _guide(request: web.Request) -> web.Response:
    name = request.match_info.get("name", "index")
    file = DOCS / f"{name}.md"
    if not name.replace("-", "").isalnum() or not file.is_file():
        raise web.HTTPNotFound
    return _rendered(file.read_text(encoding="utf-8"))


async def _reference(reference: Callable[[], str], request: web.Request) -> web.Response:
    return _rendered(reference())


def _rendered(markdown: str) -> web.Response:
    from markdown_it import MarkdownIt  # only who reads the guide pays for it

    title = markdown.partition("\n")[0].lstrip("# ")
    return page(title, MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown))


class FirstAdmin:
    """The page behind the one-time link that `serve` prints."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def show(self, request: web.Request) -> web.Response:
        code = request.query.get("code", "")
        if not await self._site.platform.read(lambda tx: first_admin.is_open(tx, code)):
            return _spent()
        return page("The first admin", _form(code, {}, {}))

    async def redeem(self, request: web.Request) -> web.Response:
        sent = {name: str(value) for name, value in (await request.post()).items()}
        code = sent.pop("code", "")
        if not await self._site.platform.read(lambda tx: first_admin.is_open(tx, code)):
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
        password_hash = await self._site.passwords.hash(sent["password"])
        try:
            await self._site.platform.write(lambda tx: first_admin.redeem(tx, code, admin, password_hash))
        except Problem as problem:
            if problem.errors:
                return page("The first admin", _form(code, sent, problem.errors), 422)
            return _spent()
        return page("Welcome", _done(admin.email))


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
        f"<h1>Welcome</h1><p>{html.escape(email)} is the admin of this installation. Next, at the command line, "
        "make a company and a token:</p><pre>wmsd company create ACME --name 'Acme' --all-modules\n"
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
