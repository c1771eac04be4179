"""The account page: the places where a person is signed in, the person's settings, and the password."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from wmsd.base.time_zones import places
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.rendering import go_to
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.text import language
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.tenants.accounts import profile_actions
from wmsd.tenants.accounts.password_strength import SHORTEST
from wmsd.tenants.accounts.schema import LANGUAGES, PasswordChanged

BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""A list of browsers: the mark in the User-Agent header, and the name of the browser.

The first mark that a header contains decides. So Edge comes before Chrome, because Edge also sends the mark of
Chrome.
"""
SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)
ACCOUNT: Final = "/account"
NOT_FOUND: Final = 404
PASSWORD: Final = "/account/password"
DONE: Final = "done"
CHANGED: Final = "password"
COUNT: Final = re.compile("[0-9]{1,6}")
FIELDS: Final = (
    ("current", "Your current password", "password", "current-password"),
    ("password", "New password, at least %(shortest)s characters", "password", "new-password"),
    ("again", "The new password again", "password", "new-password"),
)
"""The name, the label, the type and the autocomplete value of each field."""


def named(agent: str) -> str:
    """Return a name such as `Chrome on Windows` for a User-Agent header. If the header is unknown, return the
    header.
    """
    browser = next((name for mark, name in BROWSERS if mark in agent), None)
    system = next((name for mark, name in SYSTEMS if mark in agent), None)
    if browser is None or system is None:
        return agent or _("unknown")
    return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}


async def show(
    at: Workplace, request: web.Request, refused: Answer | None = None, typed: str = ""
) -> web.Response:
    sessions = await at.need(profile_actions.list_sessions)
    return page_of(
        at,
        "account",
        "account",
        refused,
        sessions=[{**each, "browser": named(each["agent"])} for each in sessions["data"]],
        languages={each: LANGUAGES[each] for each in language.OFFERED},
        changed=_changed(request.query),
        places=places(),
        zone=typed if refused else at.person.time_zone or "",
    )


async def show_password(at: Workplace, request: web.Request, refused: Answer | None = None) -> web.Response:
    return page_of(at, "password", "account", refused, fields=FIELDS, shortest=SHORTEST)


async def change_password(at: Workplace, request: web.Request) -> web.Response:
    sent = await browsers.form(at.person.browser)
    document = {name: sent.get(name, "") for name, *_ in FIELDS}
    answer = await at.ask(profile_actions.change_password, document=document)
    if answer.is_good:
        return go_to(f"{ACCOUNT}?{urlencode({DONE: CHANGED, **answer.body})}")
    return await show_password(at, request, answer)


async def choose_language(at: Workplace, request: web.Request) -> web.Response:
    sent = await browsers.form(at.person.browser)
    chosen = {"language": sent.get("language") or None}
    (await at.ask(profile_actions.choose_language, document=chosen)).needed()
    return go_to(ACCOUNT)


async def choose_time_zone(at: Workplace, request: web.Request) -> web.Response:
    sent = await browsers.form(at.person.browser)
    typed = sent.get("time_zone", "").strip()
    answer = await at.ask(profile_actions.choose_time_zone, document={"time_zone": typed or None})
    return go_to(ACCOUNT) if answer.is_good else await show(at, request, answer, typed)


async def end(at: Workplace, request: web.Request) -> web.Response:
    """End one session of the person, or all sessions except the present one. The form names the choice."""
    sent = await browsers.form(at.person.browser)
    if sent.get("which") == "others":
        answer = await at.ask(profile_actions.end_other_sessions)
    else:
        answer = await at.ask(profile_actions.end_session, path={"id": sent.get("which", "")})
    if answer.status != NOT_FOUND:  # a session that has ended already is what the person wanted
        answer.needed()
    return go_to(ACCOUNT)


def _changed(query: Mapping[str, str]) -> dict[str, str] | None:
    """Return how many sessions and tokens the change of the password has ended, as `sessions_ended` and
    `tokens_ended`.

    After the change, the address of the page contains these numbers. Return None if the address does not contain
    them.
    """
    if query.get(DONE) != CHANGED:
        return None
    ended = {name: query.get(name, "") for name in PasswordChanged.model_fields}
    return ended if all(map(COUNT.fullmatch, ended.values())) else None
