"""The use cases of the outbox: reading the event log."""

from typing import Final

from wmsd.base.problems import invalid, or_not_found
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.epochs import PlaceGone
from wmsd.events.outbox import store
from wmsd.events.outbox.schema import Event, EventQuery, LatestEventQuery

OVERTAKEN: Final = (
    "is older than the log: events after it are forgotten; read the records anew, and begin without a cursor"
)


@operation(
    tag="Events", answer="cursor", returns=Event, ability="webhooks:read", module="webhooks", history="events"
)
def list_events(tx: Transaction, query: EventQuery, position: int) -> CursorPage:
    """List the events of the last 90 days, in the order in which they happened.

    Events are listed with a webhook or without. Follow `next_cursor` until it is null, and keep the last
    `end_cursor`: as `cursor`, it goes on there later. Or begin with `after`, the `id` of the last event that
    you have, which may be that of a test. A place whose following events are forgotten already is 422. So is a
    place in a history that was cut by a restore: then `details` has the `cursor` that goes on where it was
    cut, and until when events were kept.
    """
    if query.cursor is not None:
        if store.is_gap_after(tx, position):
            raise invalid({"cursor": [OVERTAKEN]})
    elif query.after is not None:
        known = store.place_of(tx, query.after)
        if known is None:
            if (cut := store.cut_of(tx, query.after)) is not None:
                raise PlaceGone("after", cut, cut.last)
            raise invalid({"after": ["is not the id of an event of the last 90 days"]})
        position = known
    return store.after(tx, query, position)


@operation(tag="Events", answer="cursor", returns=Event, ability="webhooks:read", module="webhooks")
def list_latest_events(tx: Transaction, query: LatestEventQuery, position: int) -> CursorPage:
    """List the events of the last 90 days, the newest first."""
    return store.before(tx, query, position)


@operation(tag="Events", answer="record", returns=Event, ability="webhooks:read", module="webhooks")
def get_event(tx: Transaction, id: str) -> Record:
    """Get an event of the last 90 days."""
    return or_not_found(store.one(tx, id), "event")
