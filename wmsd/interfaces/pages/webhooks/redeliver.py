"""Sends all deliveries again that the filters of the log find: first how many they are, then the button."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from wmsd.events.webhooks import actions as webhooks
from wmsd.events.webhooks.deliveries import actions as log
from wmsd.events.webhooks.schema import DELIVERY_STATUSES
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.resources import WEBHOOKS
from wmsd.interfaces.pages.kit.responses import KEY, form_keys, page_of
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.webhooks import log_filters
from wmsd.interfaces.pages.webhooks.log_filters import LogFilters


async def show(at: Workplace, request: web.Request) -> web.Response:
    """Counts them. What the button sends ends where the count did: nothing queued later is among it."""
    filters = await log_filters.read(at, request.query)
    return await _page(at, request, filters)


async def do(at: Workplace, request: web.Request) -> web.Response:
    """Sends the first of them, or those after where the form before has ended."""
    sent = await browsers.form(at.person.browser)
    filters = await log_filters.read(at, sent)
    after = {"after": int(sent["after"])} if sent.get("after", "").isdecimal() else {}
    if filters.errors:
        return await _page(at, request, filters)
    answer = await at.ask(
        log.redeliver_webhook_range,
        path={"id": request.match_info["id"]},
        document={**filters.range(), **after},
        idempotency_key=sent.get(KEY) or None,
    )
    if not answer.is_good:
        return await _page(at, request, filters, answer.status, answer.body)
    return await _page(at, request, filters, sent=answer.body)


async def _page(
    at: Workplace,
    request: web.Request,
    filters: LogFilters,
    status: int = 200,
    refused: Mapping[str, Any] | None = None,
    sent: Mapping[str, Any] | None = None,
) -> web.Response:
    path = {"id": request.match_info["id"]}
    webhook = await at.need(webhooks.get_webhook, path=path)
    errors = filters.errors if refused is None else refused.get("errors", {})
    message = None if refused is None else refused["message"]
    counted = None
    if not errors and sent is None and refused is None:
        answer = await at.ask(log.count_webhook_range, path=path, document=filters.range(), is_counted=True)
        if answer.is_good:
            counted = answer.body
        else:
            status, errors, message = answer.status, answer.body.get("errors", {}), answer.body["message"]
    until = {} if counted is None else {"until": counted["until"]}
    return page_of(
        at,
        "redeliver",
        WEBHOOKS.name,
        status=422 if errors else status,
        webhook=webhook,
        filters=filters,
        statuses=DELIVERY_STATUSES,
        counted=counted,
        sent=sent,
        errors=errors,
        message=message,
        may_send=at.may(log.redeliver_webhook_range),
        hidden={**filters.given, **until, **form_keys(at)},
        back=f"{at.address}/webhooks/{webhook['id']}/deliveries?{urlencode(filters.given)}",
    )
