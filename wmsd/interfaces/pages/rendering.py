"""Makes pages of templates. Whatever comes from outside is escaped, and what a template lacks is an error."""

from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages import words
from wmsd.interfaces.pages.administration import administered_by
from wmsd.interfaces.pages.assets import address_of
from wmsd.interfaces.pages.fields import name_of

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER: Final = Path(__file__).parent / "templates"
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # imported when somebody opens a page

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"asset": address_of, "administered_by": administered_by}
    environment.filters |= {
        "moment": _moment,
        "instant": _instant,
        "figure": figure,
        "status": words.status,
        "opens": words.opens,
        "name_of": name_of,
    }
    return environment


def _moment(text: str) -> str:
    """A time of the API in short: it is UTC, and says so."""
    return f"{text[:10]} {text[11:16]} UTC"


def _instant(text: str) -> str:
    """To the second: requests come thick and fast."""
    return f"{text[:10]} {text[11:19]} UTC"


def figure(value: Decimal | int) -> str:
    """A number in groups of three digits, which a narrow blank separates."""
    return f"{value:,}".replace(",", "\u202f")


def page(template: str, status: int = 200, **values: Any) -> web.Response:
    """A page of the template of that name."""
    text = _environment().get_template(f"{template}.html").render(**values)
    return web.Response(status=status, text=text, content_type="text/html", headers=HEADERS)


def go_to(path: str) -> web.Response:
    """Sends the browser on, after a form."""
    return web.Response(status=303, headers={"Location": path, "Cache-Control": "no-store"})
