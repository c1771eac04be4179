"""The answers of pages for signed-in people."""

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
    """Return a page of the workplace.

    `current` is the name of the page in the menu. If an operation has refused a form of the page, `refused` is the
    answer of the operation. The page then shows its message and errors. In the template, `hidden` has the form
    token and a new idempotency key.
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
    """Return the hidden fields of a form that may run only once: the form token of the session, and a new key."""
    return {FORM_TOKEN: at.person.browser.form_token, KEY: secrets.token_urlsafe(16)}
