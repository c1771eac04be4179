"""The operations of the outbox, which read the event log."""

from typing import Final

from wmsd.base.problems import invalid, or_not_found
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.epochs import PlaceGone
from wmsd.events.outbox import store
from wmsd.events.outbox.schema import Event, EventQuery, LatestEventQuery

OVERTAKEN: Final = "is older than the event log; read all records again, then start without a cursor"


@operation(
    tag="Events", answer="cursor", returns=Event, ability="webhooks:read", module="webhooks", history="events"
)
def list_events(tx: Transaction, query: EventQuery, position: int) -> CursorPage:
    """List the events of the last 90 days, in the order in which they happened.

    Every event is listed, even if no webhook receives it. Follow `next_cursor` until it is null, and store the
    last `end_cursor`: send it later as `cursor` to get the events since then. You can also start with `after`, the
    `id` of the last event that you have, which may be the id of a test event.

    The answer is 422 if events after the requested position are already deleted. The answer is also 422 if a
    restore has cut the history at that position. Then `details` has a `cursor` that continues at the cut, and the
    time up to which events were kept.
    """
    if query.cursor is not None:
        if store.is_gap_after(tx, position):
            raise invalid({"cursor": [OVERTAKEN]})
    elif query.after is not None:
        known = store.place_of(tx, query.after)
        if known is None:
            if (cut := store.cut_of(tx, query.after)) is not None:
                raise PlaceGone("after", cut, cut.last)
            raise invalid(
                {
                    "after": [
                        (
                            "is not the id of an event of the last 90 days: correct the id, or "
                            "read all records again and start without `after`"
                        )
                    ]
                }
            )
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
