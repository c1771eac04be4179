"""The page where a person switches the second factor on and off, and gets other recovery codes."""

from typing import TYPE_CHECKING, Any

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.rendering import render_page
from wmsd.interfaces.pages.kit.session_door import Answer, Door, Person
from wmsd.tenants.accounts import second_factor_actions as second_step
from wmsd.tenants.accounts import totp

if TYPE_CHECKING:
    from markupsafe import Markup


def drawn(text: str) -> "Markup":
    """As SVG, dark on white in both modes, with the quiet zone that readers need."""
    from markupsafe import Markup
    from segno import make_qr  # imported when somebody needs one: it takes 30 ms

    code = make_qr(text, error="m")
    return Markup(code.svg_inline(dark="#000", light="#fff", omitsize=True, svgclass=None, lineclass=None))  # noqa: S704  # segno writes figures only


class SecondFactor:
    def __init__(self, door: Door) -> None:
        self._door = door

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(await self._door.person(request))

    async def do(self, request: web.Request) -> web.Response:
        """What the pressed button says: a new secret, the code that confirms it, other recovery codes, the end."""
        person = await self._door.person(request)
        sent = await browsers.form(person.browser)
        code = {"code": sent.get("code", "")}
        match sent.get("act"):
            case "begin":
                answer = await self._door.ask(person.browser, second_step.begin_enrolment)
                return await self._page(person, answer, enrolment=answer.body if answer.is_good else None)
            case "confirm":
                answer = await self._door.ask(person.browser, second_step.confirm_enrolment, document=code)
                if answer.is_good:
                    return _codes(person, answer, is_new=True)
                secret = sent.get("secret", "")
                is_ours = totp.is_secret(secret)  # anything longer is drawn slowly, or not at all
                again = {"secret": secret, "uri": totp.uri(secret, person.email)} if is_ours else None
                return await self._page(person, answer, enrolment=again)
            case "renew":
                answer = await self._door.ask(person.browser, second_step.renew_recovery_codes, document=code)
                return _codes(person, answer) if answer.is_good else await self._page(person, answer)
        answer = await self._door.ask(person.browser, second_step.end_second_factor, document=code)
        return await self._page(await self._door.person(request) if answer.is_good else person, answer)

    async def _page(
        self, person: Person, answer: Answer | None = None, enrolment: dict[str, Any] | None = None
    ) -> web.Response:
        found = {} if answer is None or answer.is_good else answer.body
        is_on = person.second_factor == "on"
        return render_page(
            "second_factor",
            answer.status if answer is not None else 200,
            person=person,
            current="account",
            enrolment=enrolment,
            code=None if enrolment is None else drawn(enrolment["uri"]),
            codes=await self._door.need(person.browser, second_step.count_recovery_codes) if is_on else None,
            message=found.get("message"),
            errors=found.get("errors", {}),
        )


def _codes(person: Person, answer: Answer, is_new: bool = False) -> web.Response:
    """`is_new`: the second factor is."""
    return render_page("recovery_codes", person=person, current="account", is_new=is_new, **answer.body)
