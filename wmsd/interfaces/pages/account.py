"""The person's own page: where they are signed in, and how to end that."""

from wmsd.accounts import actions as accounts
from wmsd.accounts.schema import LANGUAGES
from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages import browser as browsers
from wmsd.interfaces.pages import language
from wmsd.interfaces.pages.door import Door
from wmsd.interfaces.pages.rendering import go_to, page

ACCOUNT = "/account"


class Account:
    def __init__(self, door: Door) -> None:
        self._door = door

    async def show(self, request: web.Request) -> web.Response:
        person = await self._door.person(request)
        sessions = await self._door.need(person.browser, accounts.list_sessions)
        return page(
            "account",
            person=person,
            current="account",
            sessions=sessions["data"],
            languages={each: LANGUAGES[each] for each in language.OFFERED},
        )

    async def choose_language(self, request: web.Request) -> web.Response:
        person = await self._door.person(request)
        sent = await browsers.form(person.browser)
        chosen = {"language": sent.get("language") or None}
        (await self._door.ask(person.browser, accounts.choose_language, document=chosen)).needed()
        return go_to(ACCOUNT)

    async def end(self, request: web.Request) -> web.Response:
        """Ends the session that the form names, or all others."""
        person = await self._door.person(request)
        sent = await browsers.form(person.browser)
        if sent.get("which") == "others":
            await self._door.ask(person.browser, accounts.end_other_sessions)
        else:
            await self._door.ask(person.browser, accounts.end_session, path={"id": sent.get("which", "")})
        return go_to(ACCOUNT)
