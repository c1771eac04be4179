"""The answers of pages that somebody sees who is signed in."""

import secrets
from typing import Any, Final

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.browser import FORM_TOKEN
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.rendering import render_page
from wmsd.interfaces.pages.kit.workplace import PersonalWorkplace, Workplace

KEY: Final = "idempotency_key"


def page_of(
    at: Workplace, template: str, current: str, refused: Answer | None = None, /, **given: Any
) -> web.Response:
    """A page of the workplace. `current` is its entry in the menu. `refused`: the answer to the form that was sent
    from the page, whose message and errors it shows. A form gets its token and a new key in `hidden`.
    """
    body = {} if refused is None or refused.is_good else refused.body
    place = {} if isinstance(at, PersonalWorkplace) else {"at": at}
    known = {
        "status": 200 if refused is None else refused.status,
        "message": body.get("message"),
        "errors": body.get("errors", {}),
        "hidden": form_keys(at),
    }
    return render_page(template, **{"person": at.person, "current": current, **place, **known, **given})


def form_keys(at: Workplace) -> dict[str, str]:
    """The hidden fields of a form that is sent once: the token of its session, and a new key."""
    return {FORM_TOKEN: at.person.browser.form_token, KEY: secrets.token_urlsafe(16)}
