"""The page that sends all matching deliveries again. It first shows how many deliveries match."""

from collections.abc import Mapping
from urllib.parse import urlencode

from wmsd.contract.operation import Operation
from wmsd.events.webhooks import actions as webhooks
from wmsd.events.webhooks.deliveries import actions as log
from wmsd.events.webhooks.schema import DELIVERY_STATUSES
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.resources import WEBHOOKS
from wmsd.interfaces.pages.kit.responses import KEY, form_keys, page_of
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.webhooks import log_filters
from wmsd.interfaces.pages.webhooks.log_filters import LogFilters


async def show(at: Workplace, request: web.Request) -> web.Response:
    """Show how many deliveries match the filters, and a button that sends these deliveries again.

    The button sends only the deliveries that were counted. Deliveries that are queued later are left out.
    """
    filters = await log_filters.read(at, request.query)
    return await _page(at, request, filters, log.count_webhook_range, filters.range())


async def do(at: Workplace, request: web.Request) -> web.Response:
    """Send a group of matching deliveries again: the first group, or the group after the previous group.

    The form field `after` says where the previous group ends. If it is missing, the first group is sent.
    """
    sent = await browsers.form(at.person.browser)
    filters = await log_filters.read(at, sent)
    after = {"after": int(sent["after"])} if sent.get("after", "").isdecimal() else {}
    return await _page(
        at, request, filters, log.redeliver_webhook_range, {**filters.range(), **after}, sent.get(KEY)
    )


async def _page(
    at: Workplace,
    request: web.Request,
    filters: LogFilters,
    operation: Operation,
    document: Mapping[str, object],
    key: str | None = None,
) -> web.Response:
    """Run `operation` for the matching deliveries. Return the page with the result.

    `operation` counts them or sends them again. `document` is its request body, and `key` the idempotency key.
    """
    path = {"id": request.match_info["id"]}
    is_sent = operation.writes
    webhook = await at.need(webhooks.get_webhook, path=path)
    answer = Answer(422, {"errors": filters.errors})
    if not filters.errors:
        answer = await at.ask_once(operation, key, path=path, document=document, is_counted=not is_sent)
    found = answer.body if answer.is_good else {}
    until = {"until": found["until"]} if "until" in found else {}
    return page_of(
        at,
        "redeliver",
        WEBHOOKS.name,
        answer,
        webhook=webhook,
        filters=filters,
        statuses=DELIVERY_STATUSES,
        counted={} if is_sent else found,
        sent=found if is_sent else {},
        may_send=at.may(log.redeliver_webhook_range),
        hidden={**filters.given, **until, **form_keys(at)},
        back=f"{at.address}/webhooks/{webhook['id']}/deliveries?{urlencode(filters.given)}",
    )
