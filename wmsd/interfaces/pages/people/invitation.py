"""The page behind the one-time link of an invitation: the user chooses a password."""

from collections.abc import Mapping
from typing import Any, Final

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.browser import Browser
from wmsd.interfaces.pages.kit.page_client import SIGN_IN, PageClient
from wmsd.interfaces.pages.kit.rendering import go_to, render_page
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.tenants.accounts import profile_actions
from wmsd.tenants.accounts.password_strength import SHORTEST

FIELDS: Final = (
    ("password", "Password, at least %(shortest)s characters", "password", "new-password"),
    ("again", "The password again", "password", "new-password"),
)
"""The name, the label, the type and the autocomplete value of each field."""


async def show(door: PageClient, request: web.Request) -> web.Response:
    return await _form(door, door.browser(request), request.query.get("code", ""))


async def choose(door: PageClient, request: web.Request) -> web.Response:
    browser, sent = await door.sent_form(request)
    document = {name: sent.get(name, "") for name in ("code", "password", "again")}
    answer = await door.ask(browser, profile_actions.choose_password, document=document)
    if answer.is_good:
        return go_to(f"{SIGN_IN}?done=password")
    if answer.status not in (404, 422):
        answer.needed()
    return await _form(door, browser, document["code"], answer.status, answer.body)


async def _form(
    door: PageClient, browser: Browser, code: str, status: int = 200, refused: Mapping[str, Any] | None = None
) -> web.Response:
    answer = await door.ask(browser, profile_actions.get_invited, query={"code": code})
    if answer.status == 404:
        return render_page("spent", 404, why=answer.body["message"], is_demo=False, lacks_admin=False)
    if answer.status == 422:  # the address contains no code
        answer.body["message"] = _("This link is incomplete. Open the whole link that you received.")
    return render_page(
        "welcome",
        status,
        invited=answer.needed(),
        code=code,
        fields=FIELDS,
        shortest=SHORTEST,
        errors={} if refused is None else refused.get("errors", {}),
        message=None if refused is None else refused["message"],
    )
