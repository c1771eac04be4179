"""The page for failures. The page needs only this file: no template, catalogue, stylesheet or database."""

from collections.abc import Callable
from html import escape
from typing import Final

from wmsd.base.problems import Problem
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.negotiation import weights_in

HEADING: Final = "Server error"
NEXT: Final = (
    "The server had an internal error. Load the page again. If the error continues, tell your admin "
    "what you were doing, and this request number:"
)
REQUEST: Final = "Request number:"
POLICY: Final = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"


def reads_pages(request: web.BaseRequest) -> bool:
    """Return True if a browser requests a page for a person. Return False for a program, or a browser that loads a
    file.
    """
    return "text/html" in weights_in(request.headers.get("Accept", ""))


def made(
    problem: Problem,
    request_id: str,
    language: str = "en",
    translated: Callable[[str], str] = lambda text: text,
    heading: str = HEADING,
) -> web.Response:
    """Return the page for a problem. If its status is 500, the page does not show the problem's message.

    `translated` is the function that translates a sentence. `heading` is also the title of the page.
    """
    message, next_ = ("", NEXT) if problem.status == 500 else (problem.message, REQUEST)
    heading, message, next_ = (escape(translated(each)) for each in (heading, message, next_))
    text = f"""<!doctype html>
<html lang="{escape(language)}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{heading} · wmsd</title>
<h1>{heading}</h1>
<p>{message}
<p>{next_} <code>{escape(request_id)}</code></p>
</html>
"""
    headers = {**problem.headers, "Content-Security-Policy": POLICY}
    return web.Response(status=problem.status, text=text, content_type="text/html", headers=headers)
