"""One delivery of a webhook: what each attempt sent and received, and a button to send the delivery again."""

from typing import Final

from wmsd.events.webhooks import actions as webhooks
from wmsd.events.webhooks.deliveries import actions as log
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit import references
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.rendering import go_to
from wmsd.interfaces.pages.kit.resources import WEBHOOKS
from wmsd.interfaces.pages.kit.responses import KEY, page_of
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.webhooks.deliveries import OPEN
from wmsd.interfaces.pages.work.requests import laid_out

LAID_OUT: Final = 4096
"""A body with at most this number of characters is also shown with one field per line."""
SHOWN_OF_BODY: Final = 8192
"""The most characters of a body that a page shows, so that pages stay small. The API returns the whole body."""


async def again(at: Workplace, request: web.Request) -> web.Response:
    sent = await browsers.form(at.person.browser)
    answer = await at.ask_once(log.redeliver_webhook, sent.get(KEY), path=_path(request))
    if answer.is_good:
        return go_to(f"{request.path}?done=again")
    return await show(at, request, answer)


async def show(at: Workplace, request: web.Request, refused: Answer | None = None) -> web.Response:
    path = _path(request)
    webhook = await at.need(webhooks.get_webhook, path={"id": path["id"]})
    delivery = await at.need(log.get_webhook_delivery, path=path, is_counted=True)
    body = delivery["body"]
    return page_of(
        at,
        "delivery",
        WEBHOOKS.name,
        refused,
        webhook=webhook,
        delivery=delivery,
        record=references.address_of(at, delivery["entity"], delivery["entity_id"]),
        body=None if body is None else body[:SHOWN_OF_BODY],
        body_bytes=None if body is None else len(body.encode()),
        is_body_cut=body is not None and len(body) > SHOWN_OF_BODY,
        laid_out=laid_out(body) if body is not None and len(body) <= LAID_OUT else None,
        is_open=delivery["status"] in OPEN,
        may_send=body is not None and at.may(log.redeliver_webhook),
        done=request.query.get("done"),
    )


def _path(request: web.Request) -> dict[str, str]:
    return {name: request.match_info[name] for name in ("id", "delivery")}
