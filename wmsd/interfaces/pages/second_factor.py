"""The page where a person switches the second factor on and off."""

from typing import Any

from wmsd.accounts import second_step, totp
from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages import browser as browsers
from wmsd.interfaces.pages.door import Answer, Door, Person
from wmsd.interfaces.pages.rendering import page


class SecondFactor:
    def __init__(self, door: Door) -> None:
        self._door = door

    async def show(self, request: web.Request) -> web.Response:
        return _page(await self._door.person(request))

    async def do(self, request: web.Request) -> web.Response:
        """What the pressed button says: a new secret, the code that confirms it, or the end."""
        person = await self._door.person(request)
        sent = await browsers.form(person.browser)
        code = {"code": sent.get("code", "")}
        match sent.get("act"):
            case "begin":
                answer = await self._door.ask(person.browser, second_step.begin_enrolment)
                return _page(person, answer, enrolment=answer.body if answer.is_good else None)
            case "confirm":
                answer = await self._door.ask(person.browser, second_step.confirm_enrolment, document=code)
                if answer.is_good:
                    return page("recovery_codes", person=person, current="account", **answer.body)
                secret = sent.get("secret", "")
                again = {"secret": secret, "uri": totp.uri(secret, person.email)}
                return _page(person, answer, enrolment=again if secret else None)
        answer = await self._door.ask(person.browser, second_step.end_second_factor, document=code)
        return _page(await self._door.person(request) if answer.is_good else person, answer)


def _page(person: Person, answer: Answer | None = None, enrolment: dict[str, Any] | None = None) -> web.Response:
    is_bad = answer is not None and not answer.is_good
    found = answer.body if answer is not None and is_bad else {}
    return page(
        "second_factor",
        answer.status if answer is not None else 200,
        person=person,
        current="account",
        enrolment=enrolment,
        message=found.get("message"),
        errors=found.get("errors", {}),
    )
