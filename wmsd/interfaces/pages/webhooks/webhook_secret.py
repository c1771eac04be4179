"""Gives a webhook a new secret. It is made here, so that nobody has to think of one, and is shown only now."""

import base64
import secrets
from typing import Final

from wmsd.base.machine.secret_files import BASE64_PREFIX
from wmsd.events.webhooks.actions import get_webhook, rotate_webhook_secret
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.resources import WEBHOOKS
from wmsd.interfaces.pages.kit.responses import KEY, page_of
from wmsd.interfaces.pages.kit.workplace import Workplace

BYTES: Final = 32


async def show(at: Workplace, request: web.Request) -> web.Response:
    at.check(rotate_webhook_secret)
    secret = BASE64_PREFIX + base64.b64encode(secrets.token_bytes(BYTES)).decode()
    return await _form(at, request, secret)


async def do(at: Workplace, request: web.Request) -> web.Response:
    at.check(rotate_webhook_secret)
    sent = await browsers.form(at.person.browser)
    secret = sent.get("secret", "").strip()
    answer = await at.ask(
        rotate_webhook_secret,
        path={"id": request.match_info["id"]},
        document={"secret": secret},
        idempotency_key=sent.get(KEY) or None,
    )
    if not answer.is_good:
        return await _form(at, request, secret, answer)
    return page_of(at, "new_secret", WEBHOOKS.name, webhook=answer.body, secret=secret)


async def _form(at: Workplace, request: web.Request, secret: str, refused: Answer | None = None) -> web.Response:
    webhook = await at.need(get_webhook, path={"id": request.match_info["id"]}, is_counted=refused is not None)
    return page_of(at, "rotate_secret", WEBHOOKS.name, refused, webhook=webhook, secret=secret)
