"""The page of a test receiver: the deliveries that it received, their signatures, and the answer that it sends."""

from typing import Any, Final

from wmsd.events.webhooks.receiver_rules import ADDRESS, KEPT, REPLIES
from wmsd.events.webhooks.test_receivers import actions as receiving
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit import references
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.rendering import as_file, go_to
from wmsd.interfaces.pages.kit.resources import WEBHOOKS
from wmsd.interfaces.pages.kit.responses import KEY, page_of
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.webhooks import signature_recipes
from wmsd.interfaces.pages.webhooks.delivery import LAID_OUT, SHOWN_OF_BODY
from wmsd.interfaces.pages.work.requests import laid_out

LONGEST_AGE: Final = 300
"""If a delivery is older than this number of seconds, the page calls it too old.

The guide tells receivers to refuse such deliveries.
"""


async def change(at: Workplace, request: web.Request) -> web.Response:
    """Give the receiver a new secret, or change its answer, depending on the pressed button."""
    sent = await browsers.form(at.person.browser)
    key, path = sent.get(KEY), {"id": request.match_info["id"]}
    if sent.get("act") == "secret":
        answer = await at.ask_once(receiving.rotate_webhook_receiver_secret, key, path=path)
    else:
        document = {"answers": sent.get("answers", "")}
        answer = await at.ask_once(receiving.change_webhook_receiver, key, path=path, document=document)
    if answer.is_good:
        return go_to(f"{request.path}?done={'secret' if sent.get('act') == 'secret' else 'answers'}")
    return await show(at, request, answer)


async def show(at: Workplace, request: web.Request, refused: Answer | None = None) -> web.Response:
    found = await at.need(
        receiving.get_webhook_receiver, path={"id": request.match_info["id"]}, is_counted=refused is not None
    )
    done = request.query.get("done")
    return page_of(
        at,
        "receiver",
        WEBHOOKS.name,
        refused,
        receiver=found,
        kept=KEPT,
        replies=REPLIES,
        longest_age=LONGEST_AGE,
        may_change=at.may(receiving.change_webhook_receiver),
        done=done,
        done_before=WEBHOOKS.message_for(done or ""),
        acts=at.acts(WEBHOOKS, {**found, "url": ADDRESS, "auth_type": "hmac"}),
        address_of=lambda entity, entity_id: references.address_of(at, entity, entity_id),
    )


async def one(at: Workplace, request: web.Request) -> web.Response:
    received = await _received(at, request)
    receiver = await at.need(
        receiving.get_webhook_receiver, path={"id": request.match_info["id"]}, is_counted=True
    )
    body = received["body"]
    is_short = len(body) <= SHOWN_OF_BODY
    return page_of(
        at,
        "received",
        WEBHOOKS.name,
        receiver=receiver,
        received=received,
        replies=REPLIES,
        longest_age=LONGEST_AGE,
        body=body[:SHOWN_OF_BODY],
        laid_out=laid_out(body) if len(body) <= LAID_OUT else None,
        is_short=is_short,
        recipes=() if received["secret"] is None or received["is_cut"] else signature_recipes.of(received),
    )


async def body(at: Workplace, request: web.Request) -> web.Response:
    """Return the body of a received delivery as a file, unchanged."""
    received = await _received(at, request)
    return as_file(received["body"].encode(), "application/octet-stream", signature_recipes.FILE)


async def _received(at: Workplace, request: web.Request) -> dict[str, Any]:
    path = {name: request.match_info[name] for name in ("id", "received")}
    return dict(await at.need(receiving.get_webhook_received, path=path))
