"""The use case of the outbox: reading the event log."""

from wmsd.base.operation import operation
from wmsd.base.problems import invalid
from wmsd.base.results import CursorPage
from wmsd.db.transaction import Transaction
from wmsd.outbox import store
from wmsd.outbox.schema import Event, EventQuery


@operation(tag="Events", answer="cursor", returns=Event, ability="webhooks:read", module="webhooks")
def list_events(tx: Transaction, query: EventQuery, position: int) -> CursorPage:
    """List the events of the last 90 days, in the order in which they happened.

    Events are listed with a webhook or without. Follow `next_cursor` until it is null, and keep the last
    `end_cursor`: as `cursor`, it goes on there later. Or begin with `after` set to the `id` of the last event that
    you have.
    """
    if query.after is not None and not position:
        known = store.sequence_of(tx, query.after)
        if known is None:
            raise invalid({"after": ["is not the id of an event of the last 90 days"]})
        position = known
    return store.after(tx, query, position)
