"""One event: its data, and the body that webhooks send for it."""

import json
from typing import Final

from wmsd.events.outbox.actions import get_event
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import references
from wmsd.interfaces.pages.kit.resources import BY_NAME
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.webhooks.delivery import SHOWN_OF_BODY

EVENTS: Final = BY_NAME["events"]
SENT: Final = ("event", "timestamp", "data")


async def show(at: Workplace, request: web.Request) -> web.Response:
    event = await at.need(get_event, path={"id": request.match_info["id"]})
    body = json.dumps({name: event[name] for name in SENT}, ensure_ascii=False, indent=2, default=float)
    entity = event["event"].partition(".")[0]
    return page_of(
        at,
        "event",
        EVENTS.name,
        event=event,
        entity=entity,
        record=references.address_of(at, entity, event["entity_id"]),
        body=body[:SHOWN_OF_BODY],
        is_cut=len(body) > SHOWN_OF_BODY,
    )
