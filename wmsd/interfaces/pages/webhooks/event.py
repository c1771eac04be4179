"""One event: what it tells of, and the body that webhooks send of it."""

import json
from typing import Final

from wmsd.events.outbox.actions import get_event
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import references
from wmsd.interfaces.pages.kit.rendering import render_page
from wmsd.interfaces.pages.kit.resources import BY_NAME
from wmsd.interfaces.pages.kit.session_door import Door
from wmsd.interfaces.pages.kit.workplace import workplace
from wmsd.interfaces.pages.webhooks.delivery import SHOWN_OF_BODY

EVENTS: Final = BY_NAME["events"]
SENT: Final = ("event", "timestamp", "data")


class Event:
    def __init__(self, door: Door) -> None:
        self._door = door

    async def show(self, request: web.Request) -> web.Response:
        at = await workplace(self._door, request)
        event = await at.need(get_event, path={"id": request.match_info["id"]})
        body = json.dumps({name: event[name] for name in SENT}, ensure_ascii=False, indent=2)
        entity = event["event"].partition(".")[0]
        return render_page(
            "event",
            person=at.person,
            at=at,
            current=EVENTS.name,
            event=event,
            entity=entity,
            record=references.address_of(at, entity, event["entity_id"]),
            body=body[:SHOWN_OF_BODY],
            is_cut=len(body) > SHOWN_OF_BODY,
        )
