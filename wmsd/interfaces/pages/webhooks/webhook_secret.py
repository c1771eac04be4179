"""Gives a webhook a new secret. It is made here, so that nobody has to think of one, and is shown only now."""

import base64
import secrets
from typing import Final

from wmsd.base.machine.secret_files import BASE64_PREFIX
from wmsd.events.webhooks.actions import get_webhook, rotate_webhook_secret
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.rendering import render_page
from wmsd.interfaces.pages.kit.resources import WEBHOOKS
from wmsd.interfaces.pages.kit.session_door import Answer, Door
from wmsd.interfaces.pages.kit.workplace import Workplace, workplace
from wmsd.interfaces.pages.records.act import KEY

BYTES: Final = 32


class WebhookSecret:
    def __init__(self, door: Door) -> None:
        self._door = door

    async def show(self, request: web.Request) -> web.Response:
        secret = BASE64_PREFIX + base64.b64encode(secrets.token_bytes(BYTES)).decode()
        return await self._form(await self._at(request), request, secret)

    async def do(self, request: web.Request) -> web.Response:
        at = await self._at(request)
        sent = await browsers.form(at.person.browser)
        secret = sent.get("secret", "").strip()
        answer = await at.ask(
            rotate_webhook_secret,
            path={"id": request.match_info["id"]},
            document={"secret": secret},
            idempotency_key=sent.get(KEY) or None,
        )
        if not answer.is_good:
            return await self._form(at, request, secret, answer)
        return render_page(
            "new_secret", person=at.person, at=at, current=WEBHOOKS.name, webhook=answer.body, secret=secret
        )

    async def _at(self, request: web.Request) -> Workplace:
        at = await workplace(self._door, request)
        at.check(rotate_webhook_secret)
        return at

    async def _form(
        self, at: Workplace, request: web.Request, secret: str, refused: Answer | None = None
    ) -> web.Response:
        webhook = await at.need(get_webhook, path={"id": request.match_info["id"]}, is_counted=refused is not None)
        return render_page(
            "rotate_secret",
            200 if refused is None else refused.status,
            person=at.person,
            at=at,
            current=WEBHOOKS.name,
            webhook=webhook,
            secret=secret,
            hidden={KEY: secrets.token_urlsafe(16)},
            message=None if refused is None else refused.body["message"],
            errors={} if refused is None else refused.body.get("errors", {}),
        )
