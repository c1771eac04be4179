"""The log of a webhook's deliveries: each attempt with its answer, and sending again."""

from typing import Final
from urllib.parse import urlencode

from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages import browser as browsers
from wmsd.interfaces.pages.door import Door
from wmsd.interfaces.pages.rendering import go_to, page
from wmsd.interfaces.pages.resources import WEBHOOKS
from wmsd.interfaces.pages.workplace import Workplace, workplace
from wmsd.webhooks import actions as webhooks
from wmsd.webhooks.schema import DELIVERY_STATUSES

PER_PAGE: Final = 50
OPEN: Final = frozenset({"pending", "held"})
"""Statuses of deliveries that are still to be sent."""
CHOSEN: Final = "delivery:"
"""Begins the name of the box beside a delivery."""
DONE: Final = {"test": WEBHOOKS.act("test", makes_one=False).done, "again": "They are sent again, now."}


class Deliveries:
    def __init__(self, door: Door) -> None:
        self._door = door

    async def list(self, request: web.Request) -> web.Response:
        at, webhook_id = await self._at(request)
        return await self._page(at, webhook_id, request)

    async def again(self, request: web.Request) -> web.Response:
        """Sends those that are chosen again, in their order. A refusal is shown above the list."""
        at, webhook_id = await self._at(request)
        sent = await browsers.form(at.person.browser)
        chosen = sorted(int(name.removeprefix(CHOSEN)) for name in sent if _is_box(name))
        for delivery in chosen:
            path = {"id": webhook_id, "delivery": str(delivery)}
            answer = await at.ask(webhooks.redeliver_webhook, path=path, is_counted=delivery != chosen[0])
            if not answer.is_good:
                return await self._page(at, webhook_id, request, answer.status, answer.body["message"])
        if not chosen:
            return await self._page(
                at, webhook_id, request, 422, "Choose the deliveries that are to be sent again."
            )
        return go_to(f"{request.path}?done=again")

    async def _at(self, request: web.Request) -> tuple[Workplace, str]:
        return await workplace(self._door, request), request.match_info["id"]

    async def _page(
        self, at: Workplace, webhook_id: str, request: web.Request, status: int = 200, message: str = ""
    ) -> web.Response:
        given = {name: request.query[name] for name in ("status", "since") if request.query.get(name)}
        cursor = {"cursor": request.query["cursor"]} if request.query.get("cursor") else {}
        webhook = await at.need(webhooks.get_webhook, path={"id": webhook_id})
        found = await at.ask(
            webhooks.list_webhook_deliveries,
            path={"id": webhook_id},
            query={**given, **cursor, "per_page": str(PER_PAGE)},
            is_counted=True,
        )
        if not found.is_good:
            status, message = found.status, found.body["message"]
        body = found.body if found.is_good else {"data": [], "next_cursor": None}
        after = body["next_cursor"]
        return page(
            "deliveries",
            status,
            person=at.person,
            at=at,
            current=WEBHOOKS.name,
            webhook=webhook,
            deliveries=body["data"],
            statuses=DELIVERY_STATUSES,
            open=OPEN,
            given=given,
            message=message,
            done=DONE.get(request.query.get("done", ""), ""),
            may_send=at.may(webhooks.redeliver_webhook),
            chosen=CHOSEN,
            after=f"{request.path}?{urlencode({**given, 'cursor': after})}" if after else None,
        )


def _is_box(name: str) -> bool:
    return name.startswith(CHOSEN) and name.removeprefix(CHOSEN).isdecimal() and len(name) <= len(CHOSEN) + 15
