"""The page where a platform admin tries who would come in through a provider, and why."""

from typing import Any, Final

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.rendering import render_page
from wmsd.interfaces.pages.kit.session_door import Door, Person
from wmsd.interfaces.pages.kit.workplace import workplace
from wmsd.tenants.sign_on.actions import list_providers
from wmsd.tenants.sign_on.try_claims import try_sign_on

TRY: Final = "/sign-on/try"


class Trying:
    def __init__(self, door: Door) -> None:
        self._door = door

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(await self._admin(request), {})

    async def do(self, request: web.Request) -> web.Response:
        person = await self._admin(request)
        typed = await browsers.form(person.browser)
        sample = {name: typed.get(name, "").strip() for name in ("provider", "claims")}
        answer = await self._door.ask(person.browser, try_sign_on, document=sample)
        if answer.is_good:
            return await self._page(person, typed, found=answer.body)
        return await self._page(person, typed, answer.status, answer.body)

    async def _admin(self, request: web.Request) -> Person:
        """Who is signed in. Raises what `workplace` raises, and Problem (403)."""
        at = await workplace(self._door, request)
        at.check(try_sign_on)
        return at.person

    async def _page(
        self,
        person: Person,
        typed: dict[str, str],
        status: int = 200,
        refused: dict[str, Any] | None = None,
        found: dict[str, Any] | None = None,
    ) -> web.Response:
        providers = await self._door.need(person.browser, list_providers)
        refused = refused or {}
        return render_page(
            "try_sign_on",
            status,
            person=person,
            current="sign-on",
            providers=providers["data"],
            typed=typed,
            found=found,
            message=refused.get("message"),
            errors=refused.get("errors", {}),
        )
