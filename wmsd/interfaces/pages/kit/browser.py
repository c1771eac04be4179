"""The request of a browser: its session cookie, and its forms, which are protected against forgery by other sites.

The session cookie has SameSite=Lax. A browser sends this cookie when a person follows a link on another site. It
does not send the cookie when the other site sends a form or loads a picture. Therefore no GET request may change
anything.

A form must come from a page of the same origin, and must contain the token of its session. The browser reports the
origin in Sec-Fetch-Site or in Origin. If `server.public_url` is set, it is the origin of wmsd.
"""

import hashlib
import hmac
from typing import Final, NamedTuple
from urllib.parse import parse_qsl

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.interfaces.http import reached_origin, requests
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.form_origin import check_form_origin
from wmsd.interfaces.http.reached_origin import Front

COOKIE: Final = "wmsd-"
"""The first part of the name of the session cookie. The second part comes from the installation's id."""
ID_LENGTH: Final = 8
OVER_TLS: Final = "__Host-"
SIGN_ON: Final = "-sign-on"
"""The last part of the name of the cookie for a sign-on that has begun but is not finished."""
BY_ITSELF: Final = "X-By-Itself"
"""The header of requests that the script of an open page sends automatically, without an action of the user."""
LONGEST_SECRET: Final = 200
LARGEST_FORM: Final = 64 * 1024
MOST_FIELDS: Final = 200
LARGEST_WITH_ROWS: Final = 1024 * 1024
MOST_WITH_ROWS: Final = 10_000
"""The maximum number of fields of a form that has up to 1 000 lines."""
FORM_TOKEN: Final = "form_token"
AGAIN: Final = "again"
"""The name of a hidden form field. A form with this field is shown again with its values, but its action is not
run.

It is set when the user had to sign in again.
"""
LONGEST_NEXT: Final = 500


class Bounds(NamedTuple):
    """The maximum size of a form: the number of its bytes and of its fields."""

    size: int
    fields: int


PLAIN: Final = Bounds(LARGEST_FORM, MOST_FIELDS)
WITH_ROWS: Final = Bounds(LARGEST_WITH_ROWS, MOST_WITH_ROWS)
WITH_ANOTHER: Final = Bounds(LARGEST_FORM + LARGEST_WITH_ROWS, MOST_FIELDS + MOST_WITH_ROWS)
"""The maximum size of a form that carries the fields of another form."""


@dataclass(frozen=True, slots=True)
class Browser:
    request: web.Request
    origin: str
    """The scheme and the host that the browser has reached, such as `https://wms.example.com`."""
    address: str
    cookie: str
    """The name of the session's cookie."""
    secret: str | None
    """The secret of the session, as the browser sent it. It is not checked yet. None if the browser sent no
    session cookie, or a secret with an impossible length.
    """
    asks_by_itself: bool = False
    """True if an open page sent the request automatically, without an action of its user."""
    has_fixed_origin: bool = False
    """True if `server.public_url` sets the origin."""

    @property
    def has_tls(self) -> bool:
        return self.origin.startswith("https:")

    @property
    def is_local(self) -> bool:
        """True if the browser runs on the same machine as wmsd, so that nobody can listen on the network."""
        return self.address in ("127.0.0.1", "::1", "::/64")

    @property
    def form_token(self) -> str:
        return form_token(self.secret or "")


class FormOfAnotherSession(Problem):
    def __init__(self) -> None:
        super().__init__("FORBIDDEN", "This form belongs to another session. Open the page again.")


def form_token(secret: str) -> str:
    """Return the token for the forms of the session with this secret. The token does not reveal the secret."""
    return hmac.new(secret.encode(), b"form", hashlib.sha256).hexdigest()


def cookie_name(installation: str) -> str:
    """Return the name of the session cookie of the installation with this id.

    The name contains the id, because browsers send a host's cookies to each of its ports.
    """
    return COOKIE + installation[:ID_LENGTH]


def read(request: web.Request, front: Front, cookie: str) -> Browser:
    address, passed = requests.client_and_hops(request, front.proxies)
    origin = reached_origin.origin(request, front, passed)
    name = OVER_TLS + cookie if origin.startswith("https:") else cookie
    secret = request.cookies.get(name)
    if secret is not None and not 0 < len(secret) <= LONGEST_SECRET:
        secret = None
    by_itself, is_fixed = BY_ITSELF in request.headers, bool(front.public_url)
    return Browser(request, origin, address, name, secret, asks_by_itself=by_itself, has_fixed_origin=is_fixed)


def give(answer: web.Response, browser: Browser, secret: str, seconds: int | None = None) -> web.Response:
    """Add the cookie of the session with this secret to the answer, and return the answer.

    The server decides when the session ends. The browser deletes the cookie after `seconds`; if `seconds` is None,
    it deletes the cookie when the browser is closed.
    """
    return _with_cookie(answer, browser, browser.cookie, secret, seconds)


def take(answer: web.Response, browser: Browser) -> web.Response:
    """Make the answer delete the session cookie in the browser, and return the answer."""
    return _with_cookie(answer, browser, browser.cookie, "", 0)


def _with_cookie(
    answer: web.Response, browser: Browser, name: str, value: str, max_age: int | None
) -> web.Response:
    answer.set_cookie(
        name, value, max_age=max_age, path="/", httponly=True, samesite="Lax", secure=browser.has_tls
    )
    return answer


def sign_on_of(browser: Browser) -> str | None:
    """Return the data of the sign-on that has begun in this browser, or None if there is no such sign-on."""
    return browser.request.cookies.get(browser.cookie + SIGN_ON)


def keep_sign_on(answer: web.Response, browser: Browser, kept: str, seconds: int) -> web.Response:
    """Store the data `kept` of a sign-on in a cookie of the answer. Return the answer.

    The browser stores the cookie for `seconds`. If `seconds` is 0, the browser deletes the cookie.
    """
    return _with_cookie(answer, browser, browser.cookie + SIGN_ON, kept, seconds)


def begins_elsewhere(browser: Browser) -> bool:
    """Return True if a page of another origin has caused the request, for example with a link."""
    return browser.request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none")


async def form(
    browser: Browser, with_token: bool = True, bounds: Bounds = PLAIN, may_be_again: bool = False
) -> dict[str, str]:
    """Check that a page of this origin has sent the form, and return the fields of the form.

    Also check the token of its session, unless `with_token` is False. If `may_be_again` is True, a form that is
    only shown again (see `AGAIN`) needs no token. Raise Problem (403, 415, 413, 408 or 400) if the form is
    refused.
    """
    request = browser.request
    check_origin(browser)
    if request.content_type != "application/x-www-form-urlencoded":
        raise Problem("VALIDATION_FAILED", "Send the form of this page from a browser.", status=415)
    try:
        raw = (await requests.body(request, bounds.size)).decode()
        fields = dict(parse_qsl(raw, keep_blank_values=True, max_num_fields=bounds.fields, errors="strict"))
    except ValueError:
        raise Problem("VALIDATION_FAILED", "The form cannot be read; send it again.", status=400) from None
    token = fields.pop(FORM_TOKEN, "")
    if with_token and not (may_be_again and AGAIN in fields):
        check_token(browser, token)
    return fields


def check_token(browser: Browser, token: str) -> None:
    """Raise Problem (403) unless `token` is the form token of this session."""
    if not hmac.compare_digest(token.encode(), browser.form_token.encode()):
        raise FormOfAnotherSession


def check_origin(browser: Browser) -> None:
    """Raise Problem (403) unless a page of this origin sent the request."""
    check_form_origin(browser.request, browser.origin, browser.has_fixed_origin)


def page_of_form(browser: Browser) -> str:
    """Return the path of the page that has sent the form. Return "" if the browser does not report a page of this
    origin.
    """
    came_from = browser.request.headers.get("Referer", "")
    path = came_from.removeprefix(browser.origin)
    return "" if path == came_from else own_path(path, "")


def own_path(text: str, otherwise: str) -> str:
    """Return `text` if it is a path of this server. Return `otherwise` if it is not.

    Use this before a redirect: other texts could lead to another site.
    """
    is_path = text.startswith("/") and not text.startswith(("//", "/\\")) and len(text) <= LONGEST_NEXT
    return text if is_path and text.isascii() and text.isprintable() else otherwise
