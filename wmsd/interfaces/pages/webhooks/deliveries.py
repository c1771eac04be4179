"""The log of a webhook's deliveries, with filters. Selected deliveries can be sent again."""

from typing import Final
from urllib.parse import urlencode

from wmsd.events.outbox.events import EVENTS, TEST_EVENT
from wmsd.events.webhooks import actions as webhooks
from wmsd.events.webhooks.deliveries import actions as log
from wmsd.events.webhooks.figures import list_webhook_figures
from wmsd.events.webhooks.schema import DELIVERY_STATUSES
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit import references
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.rendering import go_to
from wmsd.interfaces.pages.kit.resources import WEBHOOKS
from wmsd.interfaces.pages.kit.responses import KEY, page_of
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.webhooks import log_filters

PER_PAGE: Final = 50
OPEN: Final = frozenset({"pending", "held"})
"""The statuses of deliveries that are not sent yet."""
CHOSEN: Final = "delivery:"
"""The prefix in the name of a delivery's checkbox. The id of the delivery follows."""


async def again(at: Workplace, request: web.Request) -> web.Response:
    """Send the selected deliveries again, in the order of their ids.

    Stop at the first delivery that is refused, and show the reason above the list.
    """
    sent = await browsers.form(at.person.browser)
    chosen = sorted(int(name.removeprefix(CHOSEN)) for name in sent if _is_box(name))
    for delivery in chosen:
        answer = await at.ask_once(
            log.redeliver_webhook,
            f"{sent[KEY]}-{delivery}" if sent.get(KEY) else None,
            path={"id": request.match_info["id"], "delivery": str(delivery)},
            is_counted=delivery != chosen[0],
        )
        if not answer.is_good:
            return await show(at, request, answer)
    if not chosen:
        return await show(at, request, Answer(422, {"message": _("Select the webhook deliveries to send again.")}))
    return go_to(f"{request.path}?done=again")


async def show(at: Workplace, request: web.Request, refused: Answer | None = None) -> web.Response:
    """Show the log of deliveries.

    `refused` is the answer that refused a form of this page. If the filters or the list itself have an error, the
    page shows that error instead.
    """
    webhook_id = request.match_info["id"]
    webhook = await at.need(webhooks.get_webhook, path={"id": webhook_id})
    filters = await log_filters.read(at, request.query)
    cursor = {"cursor": request.query["cursor"]} if request.query.get("cursor") else {}
    found = await at.ask(
        log.list_webhook_deliveries,
        path={"id": webhook_id},
        query={**filters.query, **cursor, "per_page": str(PER_PAGE)},
        is_counted=True,
    )
    body = found.body if found.is_good and not filters.errors else {"data": [], "next_cursor": None}
    if not found.is_good:
        refused = Answer(found.status, {**found.body, "errors": filters.errors | found.body.get("errors", {})})
    elif filters.errors:
        refused = Answer(422, {"message": _("Correct the marked fields."), "errors": filters.errors})
    figures = await at.need(list_webhook_figures, is_counted=True)
    fares = next((each for each in figures["data"] if each["id"] == webhook["id"]), None)
    after = body["next_cursor"]
    return page_of(
        at,
        "deliveries",
        WEBHOOKS.name,
        refused,
        webhook=webhook,
        fares=fares,
        deliveries=body["data"],
        statuses=DELIVERY_STATUSES,
        events=(*EVENTS, TEST_EVENT),
        open=OPEN,
        filters=filters,
        is_sent_again=request.query.get("done") == "again",
        may_send=at.may(log.redeliver_webhook),
        chosen=CHOSEN,
        address_of=lambda entity, entity_id: references.address_of(at, entity, entity_id),
        all_again=f"{request.path}/again?{urlencode(filters.given)}",
        after=f"{request.path}?{urlencode({**filters.given, 'cursor': after})}" if after else None,
    )


def _is_box(name: str) -> bool:
    return name.startswith(CHOSEN) and name.removeprefix(CHOSEN).isdecimal() and len(name) <= len(CHOSEN) + 15
