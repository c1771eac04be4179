"""The page on which a person switches the second factor on and off, and renews the recovery codes."""

from dataclasses import replace
from typing import Any

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.barcodes import qr_code
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.tenants.accounts import second_factor_actions, totp


async def show(
    at: Workplace, request: web.Request, answer: Answer | None = None, enrolment: dict[str, Any] | None = None
) -> web.Response:
    return page_of(
        at,
        "second_factor",
        "account",
        answer,
        enrolment=enrolment,
        code=None if enrolment is None else qr_code(enrolment["uri"]),
        codes=await at.need(second_factor_actions.count_recovery_codes)
        if at.person.second_factor == "on"
        else None,
    )


async def do(at: Workplace, request: web.Request) -> web.Response:
    """Run the action of the pressed button.

    The actions are: create a secret, confirm it with a code, renew the recovery codes, and switch the second
    factor off.
    """
    sent = await browsers.form(at.person.browser)
    code = {"code": sent.get("code", "")}
    match sent.get("act"):
        case "begin":
            answer = await at.ask(second_factor_actions.begin_enrolment)
            return await show(at, request, answer, enrolment=answer.body if answer.is_good else None)
        case "confirm":
            answer = await at.ask(second_factor_actions.confirm_enrolment, document=code)
            if answer.is_good:
                return _codes(at, answer, is_new=True)
            secret = sent.get("secret", "")
            is_ours = totp.is_secret(secret)  # the QR code of a longer text would be slow, or impossible
            again = {"secret": secret, "uri": totp.uri(secret, at.person.email)} if is_ours else None
            return await show(at, request, answer, enrolment=again)
        case "renew":
            answer = await at.ask(second_factor_actions.renew_recovery_codes, document=code)
            return _codes(at, answer) if answer.is_good else await show(at, request, answer)
    answer = await at.ask(second_factor_actions.end_second_factor, document=code)
    if answer.is_good:
        at = replace(at, person=await at.door.person(request))
    return await show(at, request, answer)


def _codes(at: Workplace, answer: Answer, is_new: bool = False) -> web.Response:
    """Show the recovery codes. `is_new` is True if the second factor was just switched on."""
    return page_of(at, "recovery_codes", "account", is_new=is_new, **answer.body)
