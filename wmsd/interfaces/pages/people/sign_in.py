"""Signing in and out."""

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.browser import Browser, own_path
from wmsd.interfaces.pages.kit.page_client import HOME, SIGN_IN, Answer, PageClient
from wmsd.interfaces.pages.kit.rendering import go_to, render_page
from wmsd.tenants.accounts import actions as accounts
from wmsd.tenants.accounts import profile_actions, second_factor_actions
from wmsd.tenants.accounts.sessions import TOO_MANY_PLACES
from wmsd.tenants.one_time_links.actions import is_first_admin_wanted
from wmsd.tenants.sign_on.actions import list_providers

FIELDS = (
    ("email", "E-mail address", "email", "username"),
    ("password", "Password", "password", "current-password"),
)
"""Their names, what they are called, their types, and what browsers fill them with."""


async def show(door: PageClient, request: web.Request) -> web.Response:
    browser = door.browser(request)
    known = None if browser.secret is None else await door.ask(browser, profile_actions.get_profile)
    if known is not None and known.is_good:
        return go_to(own_path(request.query.get("next", ""), HOME))
    was_ended = known is not None and known.body["message"] == TOO_MANY_PLACES
    return await _form(
        door,
        browser,
        next_path=request.query.get("next", ""),
        is_lost=request.query.get("lost") == "form",
        done=request.query.get("done", ""),
        ended=TOO_MANY_PLACES if was_ended else "",
    )


async def sign_in(door: PageClient, request: web.Request) -> web.Response:
    """Begins a new session, and ends the one that the browser had before."""
    browser, sent = await door.sent_form(request)
    next_path = sent.get("next", "")
    document = {"email": sent.get("email", "").strip(), "password": sent.get("password", "")}
    answer = await door.ask(browser, accounts.begin_session, document=document)
    if not answer.is_good:
        is_lost = sent.get("lost") == "form"
        return await _form(door, browser, answer.status, next_path, document["email"], answer.body, is_lost)
    if answer.body["secret"] is None:
        return _second_step(answer.body["pending"], next_path)
    return await _signed_in(door, browser, answer.body["secret"], next_path)


async def second_step(door: PageClient, request: web.Request) -> web.Response:
    """The code, after the password."""
    browser, sent = await door.sent_form(request)
    pending, next_path = sent.get("pending", ""), sent.get("next", "")
    document = {"pending": pending, "code": sent.get("code", "")}
    answer = await door.ask(browser, second_factor_actions.finish_session, document=document)
    if not answer.is_good:
        return _second_step(pending, next_path, answer)
    return await _signed_in(door, browser, answer.body["secret"], next_path)


async def _signed_in(door: PageClient, browser: Browser, secret: str, next_path: str) -> web.Response:
    if browser.secret is not None:
        await door.ask(browser, profile_actions.end_this_session)
    return browsers.give(go_to(own_path(next_path, HOME)), browser, secret)


async def sign_out(door: PageClient, request: web.Request) -> web.Response:
    browser = door.browser(request)
    await browsers.form(browser)
    if browser.secret is not None:
        await door.ask(browser, profile_actions.end_this_session)
    return browsers.take(go_to(f"{SIGN_IN}?done=out"), browser)


async def _form(
    door: PageClient,
    browser: Browser,
    status: int = 200,
    next_path: str = "",
    email: str = "",
    refused: dict[str, object] | None = None,
    is_lost: bool = False,
    done: str = "",
    ended: str = "",
) -> web.Response:
    providers = (await door.ask(browser, list_providers)).needed()
    waits = (await door.ask(browser, is_first_admin_wanted, is_counted=True)).needed()
    return render_page(
        "sign_in",
        status,
        fields=FIELDS,
        focus="password" if email else "email",
        providers=providers["data"],
        lacks_admin=waits["wanted"],
        next_path=own_path(next_path, ""),
        email=email,
        is_lost=is_lost,
        done=done,
        ended=ended,
        message=None if refused is None else refused["message"],
        errors={} if refused is None else refused.get("errors", {}),
    )


def _second_step(pending: str, next_path: str, refused: Answer | None = None) -> web.Response:
    return render_page(
        "second_step",
        200 if refused is None else refused.status,
        pending=pending,
        next_path=own_path(next_path, ""),
        message=None if refused is None else refused.body["message"],
    )
