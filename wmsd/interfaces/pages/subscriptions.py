"""The webhooks of a company, with how each fares, and the way to one of them."""

from typing import Final

from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages.browsing import Browsing, csv_of
from wmsd.interfaces.pages.door import Door
from wmsd.interfaces.pages.rendering import go_to, page
from wmsd.interfaces.pages.resources import WEBHOOKS
from wmsd.interfaces.pages.workplace import workplace
from wmsd.webhooks.actions import get_webhook, list_webhooks
from wmsd.webhooks.figures import list_webhook_figures
from wmsd.webhooks.receiving.rules import ADDRESS
from wmsd.webhooks.rules import MOST_SUBSCRIPTIONS

PER_PAGE: Final = MOST_SUBSCRIPTIONS
"""All of them: a company has no more."""


class Subscriptions:
    def __init__(self, door: Door, browsing: Browsing) -> None:
        self._door = door
        self._browsing = browsing

    async def list(self, request: web.Request) -> web.Response:
        at = await workplace(self._door, request)
        found = await at.need(list_webhooks, query={"per_page": str(PER_PAGE)})
        figures = await at.need(list_webhook_figures, is_counted=True)
        by_id = {each["id"]: each for each in figures["data"]}
        done = request.query.get("done")
        return page(
            "webhooks",
            person=at.person,
            at=at,
            current=WEBHOOKS.name,
            resource=WEBHOOKS,
            done=next((act.done for act in WEBHOOKS.acts if act.name == done), ""),
            webhooks=[(each, by_id[each["id"]]) for each in found["data"] if each["id"] in by_id],
            csv=csv_of(at, WEBHOOKS, {}),
        )

    async def one(self, request: web.Request) -> web.Response:
        """A test receiver has a page of its own."""
        at = await workplace(self._door, request)
        webhook = await at.need(get_webhook, path={"id": request.match_info["id"]})
        if webhook["url"] != ADDRESS:
            return await self._browsing.record(request)
        return go_to(f"{request.path}/receiver{'?' if request.query_string else ''}{request.query_string}")
