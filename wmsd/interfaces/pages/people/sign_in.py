"""Signing in and out.

If a person sends a form after the session has ended, hidden fields of the sign-in pages carry its values. After
the same person has signed in, the form is shown again with these values, but is not run automatically. The server
does not store the values.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.browser import AGAIN, PLAIN, WITH_ANOTHER, Browser, own_path
from wmsd.interfaces.pages.kit.page_client import HOME, SIGN_IN, Answer, PageClient
from wmsd.interfaces.pages.kit.rendering import go_to, render_page
from wmsd.tenants.accounts import actions as accounts
from wmsd.tenants.accounts import profile_actions, second_factor_actions
from wmsd.tenants.accounts.sessions import TOO_MANY_PLACES
from wmsd.tenants.one_time_links.actions import is_first_admin_wanted
from wmsd.tenants.sign_on.actions import list_providers

FIELDS = (
    ("email", "E-mail address", "text", "username"),
    ("password", "Password", "password", "current-password"),
)
"""The name, the label, the type and the autocomplete value of each field.

A field of the type `email` would accept only ASCII letters before the @.
"""
STAY = "stay"
"""The checkbox with which a person stays signed in after the browser is closed."""
GO_ON: Final = "go_on"
"""The button with which a person continues in this tab after signing in in another tab, for example through a
provider.
"""
OF: Final = "of"
"""A hidden field of the sign-in page. It has the id of the user who filled in the form that was sent too late."""
IN_ANOTHER_TAB: Final = f"{SIGN_IN}?done=tab"
"""The page after a sign-in in another tab. It tells the person to go back to the first tab, which has the form."""
NOT_YET: Final = "You are not signed in yet. Sign in here or in another tab, then continue."
CARRIED: Final = "form."
"""The first part of the names of hidden fields. These fields have the values of a form that was sent too late."""


class GoingOn(NamedTuple):
    """The page to which a person goes after signing in.

    `is_lost` is True if a form was sent after its session had ended. `carried` has the fields of this form, or is
    empty if the fields are not known. `user_id` is the user of the session whose cookie the browser sent with the
    sign-in form, or None if the session is unknown.
    """

    path: str
    is_lost: bool = False
    carried: Mapping[str, str] = {}
    user_id: int | None = None
    stays: bool = False
    """True if the person stays signed in after the browser is closed."""
    form_of: str = ""
    """The id of the user who filled in the form that was sent too late. It comes from a hidden field of the
    sign-in page.
    """


async def show(door: PageClient, request: web.Request) -> web.Response:
    browser = door.browser(request)
    known = None if browser.secret is None else await door.ask(browser, profile_actions.get_profile)
    if known is not None and known.is_good:
        if request.path_qs == IN_ANOTHER_TAB:
            return render_page("other_tab", home=HOME)
        return go_to(own_path(request.query.get("next", ""), HOME))
    way = GoingOn(request.query.get("next", ""), is_lost=request.query.get("lost") == "form")
    return await _form(door, browser, way, done=request.query.get("done", ""), ended=_ended(known))


async def show_too_late(door: PageClient, request: web.Request, typed: Mapping[str, str]) -> web.Response:
    """Show the sign-in page to a person who has sent a form after the session had ended.

    `typed` has the values of this form. Hidden fields of the sign-in page carry them.
    """
    browser = door.browser(request)
    known = await door.ask(browser, profile_actions.get_profile, is_counted=True)
    carried = {f"{CARRIED}{name}": typed[name] for name in typed}
    form_of = str(await door.user_of(browser.secret) or "")
    way = GoingOn(request.path_qs, is_lost=True, carried=carried, form_of=form_of)
    return await _form(door, browser, way, status=401, ended=_ended(known))


def _ended(known: Answer | None) -> str:
    is_displaced = known is not None and not known.is_good and known.body["message"] == TOO_MANY_PLACES
    return TOO_MANY_PLACES if is_displaced else ""


async def sign_in(door: PageClient, request: web.Request) -> web.Response:
    """Start a new session, and end the session that the browser had before."""
    browser, sent, way = await _sent(door, request)
    if GO_ON in sent:
        return await _go_on(door, browser, way)
    document = {"email": sent.get("email", "").strip(), "password": sent.get("password", "")}
    answer = await door.ask(browser, accounts.begin_session, document=document)
    if not answer.is_good:
        return await _form(door, browser, way, answer.status, document["email"], answer.body)
    if answer.body["secret"] is None:
        return _second_step(answer.body["pending"], way)
    return await _signed_in(door, browser, answer.body["secret"], way)


async def second_step(door: PageClient, request: web.Request) -> web.Response:
    """Check the code of the second factor, and sign the person in. The password was checked before."""
    browser, sent, way = await _sent(door, request)
    pending = sent.get("pending", "")
    document = {"pending": pending, "code": sent.get("code", "")}
    answer = await door.ask(browser, second_factor_actions.finish_session, document=document)
    if not answer.is_good:
        return _second_step(pending, way, answer)
    return await _signed_in(door, browser, answer.body["secret"], way)


async def _sent(door: PageClient, request: web.Request) -> tuple[Browser, dict[str, str], GoingOn]:
    """Return the browser, the form that it has sent from a sign-in page, and the page to which the person goes
    next.

    The form may contain the fields of another form if the browser has the secret of a known session. Other
    browsers can send only small forms. Raise Problem if the form is refused.
    """
    user_id = await door.user_of(door.browser(request).secret)
    browser, sent = await door.sent_form(request, PLAIN if user_id is None else WITH_ANOTHER)
    carried = {} if user_id is None else {name: sent[name] for name in sent if name.startswith(CARRIED)}
    is_lost, form_of = sent.get("lost") == "form", sent.get(OF, "")
    return browser, sent, GoingOn(sent.get("next", ""), is_lost, carried, user_id, STAY in sent, form_of)


async def _signed_in(door: PageClient, browser: Browser, secret: str, way: GoingOn) -> web.Response:
    if browser.secret is not None:
        await door.ask(browser, profile_actions.end_this_session)
    path = own_path(way.path, "")
    seconds = session_seconds(door, way.stays)
    if not path or not way.carried or await door.user_of(secret) != way.user_id:
        return browsers.give(go_to(path or HOME), browser, secret, seconds)
    return browsers.give(_leading_on(path, way), browser, secret, seconds)


def session_seconds(door: PageClient, stays: bool) -> int | None:
    """Return how many seconds the browser keeps the cookie of the session.

    Return None if `stays` is False. The browser then deletes the cookie when it is closed.
    """
    return int(door.lifetimes.most.total_seconds()) if stays else None


def _leading_on(path: str, way: GoingOn) -> web.Response:
    """Return a page that leads back to the form at `path`, which was sent too late.

    The page sends the values of the form, which are in `way`, but no form token. So the form is shown again, but
    cannot run.
    """
    fields = {name.removeprefix(CARRIED): value for name, value in way.carried.items()} | {AGAIN: "1"}
    return render_page("signed_on", next_path=path, carried=fields)


async def _go_on(door: PageClient, browser: Browser, way: GoingOn) -> web.Response:
    """Continue in this tab after the person has signed in in another tab. This tab still has the form that was
    sent too late.

    If nobody is signed in yet, show the sign-in page again. A person who signs in through a provider needs another
    tab, because the provider's redirect would lose the form.
    """
    known = await door.ask(browser, profile_actions.get_profile, is_counted=True)
    if not known.is_good:
        return await _form(door, browser, way, known.status, refused={"message": NOT_YET})
    path = own_path(way.path, "")
    if not path or not way.carried or str(way.user_id) != way.form_of:
        return go_to(path or HOME)
    return _leading_on(path, way)


async def sign_out(door: PageClient, request: web.Request) -> web.Response:
    browser = door.browser(request)
    await browsers.form(browser)
    if browser.secret is not None:
        await door.ask(browser, profile_actions.end_this_session)
    return browsers.take(go_to(f"{SIGN_IN}?done=out"), browser)


async def _form(
    door: PageClient,
    browser: Browser,
    way: GoingOn,
    status: int = 200,
    email: str = "",
    refused: dict[str, object] | None = None,
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
        next_path=own_path(way.path, ""),
        email=email,
        is_lost=way.is_lost,
        carried={**way.carried, **({OF: way.form_of} if way.carried else {})},
        other_tab=IN_ANOTHER_TAB,
        done=done,
        ended=ended,
        stays=way.stays,
        idle_seconds=int(door.lifetimes.idle.total_seconds()),
        most_seconds=int(door.lifetimes.most.total_seconds()),
        message=None if refused is None else refused["message"],
        errors={} if refused is None else refused.get("errors", {}),
    )


def _second_step(pending: str, way: GoingOn, refused: Answer | None = None) -> web.Response:
    return render_page(
        "second_step",
        200 if refused is None else refused.status,
        pending=pending,
        next_path=own_path(way.path, ""),
        carried=way.carried,
        stays=way.stays,
        message=None if refused is None else refused.body["message"],
    )
