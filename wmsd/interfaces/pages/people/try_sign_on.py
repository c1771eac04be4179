"""The page on which a platform admin tests who could sign in through a provider, and why."""

from collections.abc import Mapping
from typing import Final

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.tenants.sign_on.actions import list_providers
from wmsd.tenants.sign_on.try_claims import try_sign_on

TRY: Final = "/sign-on/try"


async def show(
    at: Workplace, request: web.Request, typed: Mapping[str, str] = {}, answer: Answer | None = None
) -> web.Response:
    at.check(try_sign_on)
    providers = await at.need(list_providers)
    found = answer.body if answer is not None and answer.is_good else None
    return page_of(
        at, "try_sign_on", "sign-on", answer, providers=providers["data"], typed=typed, found=found, at=None
    )


async def do(at: Workplace, request: web.Request) -> web.Response:
    at.check(try_sign_on)
    typed = await browsers.form(at.person.browser)
    sample = {name: typed.get(name, "").strip() for name in ("provider", "claims")}
    return await show(at, request, typed, await at.ask(try_sign_on, document=sample))
