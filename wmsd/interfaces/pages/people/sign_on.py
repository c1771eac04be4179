"""Signing in through a provider: the redirect to the provider, and the return to wmsd."""

from wmsd.interfaces.http import requests
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.browser import own_path
from wmsd.interfaces.pages.kit.page_client import HOME, SIGN_IN, Answer, PageClient, to_sign_in
from wmsd.interfaces.pages.kit.rendering import go_to, render_page
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.people.sign_in import STAY, session_seconds
from wmsd.tenants.sign_on import actions as sign_on
from wmsd.tenants.sign_on.open_sign_ons import SECONDS

TO_PROVIDER = f"{SIGN_IN}/{{provider:[a-z0-9-]+}}"
BACK = f"{TO_PROVIDER}/back"
SENT_BACK = ("state", "code", "iss", "error")
"""The parameters from a provider that wmsd reads."""
NOT_BEGUN = (
    "This browser did not start this sign-in, or the sign-in took more than ten minutes. Start again on the "
    "sign-in page."
)


async def begin(door: PageClient, request: web.Request) -> web.Response:
    """Redirect the browser to the provider.

    If a page of another site has caused the request, redirect the browser to the sign-in page. There the person
    can press the button of the provider.
    """
    browser = door.browser(request)
    next_path = own_path(request.query.get("next", ""), "")
    if browsers.begins_elsewhere(browser):
        door.count_open(browser)
        return go_to(to_sign_in(next_path))
    answer = await door.ask(
        browser,
        sign_on.begin_sign_on,
        path={"provider": request.match_info["provider"]},
        document={"next_path": next_path, "stays": STAY in request.query},
    )
    if not answer.is_good:
        return _refused(answer)
    return browsers.keep_sign_on(go_to(answer.body["go_to"]), browser, answer.body["kept"], SECONDS)


async def end(door: PageClient, request: web.Request) -> web.Response:
    """Start a session for a person who comes back from the provider."""
    browser = door.browser(request)
    kept = browsers.sign_on_of(browser)
    if kept is None:
        door.count_open(browser)
        return render_page("not_let_in", 401, message=_(NOT_BEGUN))
    sent = {name: value for name, value in requests.query(request).items() if name in SENT_BACK}
    answer = await door.ask(
        browser,
        sign_on.finish_sign_on,
        path={"provider": request.match_info["provider"]},
        document={"kept": kept, **sent},
    )
    if answer.is_good:
        done = go_to(own_path(answer.body["next_path"], HOME))
        browsers.give(done, browser, answer.body["secret"], session_seconds(door, answer.body["stays"]))
    else:
        done = _refused(answer)
    if answer.status != 429:  # above the rate limit, the sign-on was not checked
        browsers.keep_sign_on(done, browser, "", 0)
    return done


def _refused(answer: Answer) -> web.Response:
    return render_page("not_let_in", answer.status, message=answer.body["message"])
