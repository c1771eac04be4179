"""Filters the deliveries of a subscription. An index keeps the search fast, however many deliveries there are.

One of the conditions chooses the index. All other conditions are checked row by row, for a limited number of
deliveries at a time. Deliveries are in the order in which they were queued: by time, then by id.
"""

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks.schema import DELIVERY_STATUSES

LOOKED_AT: Final = 5000
"""The maximum number of deliveries that are checked for one page, if some conditions are checked row by row."""
BEGINNING: Final = ""
END: Final = "9999"
"""BEGINNING is a text that sorts before every time. END is a text that sorts after every time."""
LAST_ID: Final = 2**62

Place = tuple[str, int]
"""The position of a delivery in the sequence: the time at which it was queued, and its id."""
Record = tuple[str, int]
"""The entity of an event, such as `sales_order`, and the id of the record."""


@dataclass(frozen=True, slots=True)
class DeliveryFilter:
    """The conditions on deliveries. A delivery must meet every condition that is not None. An empty tuple matches
    no delivery. Deliveries that were queued exactly at `since` or `until` match too.
    """

    subscription_id: int
    statuses: tuple[str, ...] | None = None
    events: tuple[str, ...] | None = None
    records: tuple[Record, ...] | None = None
    since: str | None = None
    until: str | None = None
    has_tests: bool = True


class Found(NamedTuple):
    """The ids of the found deliveries, in order. `is_more` is True if there may be more deliveries after `last`.

    `last` is the id of the last delivery that was checked. If none was checked, it is the start of the search.
    """

    ids: list[int]
    last: int
    is_more: bool


class Branch(NamedTuple):
    """A search in an index: an SQL condition on the first columns of the index, and its parameters."""

    condition: str
    values: Mapping[str, object]


OTHERS: Final = {
    "statuses": "status IN (SELECT value FROM json_each(:statuses))",
    "events": "event IN (SELECT value FROM json_each(:events))",
}
"""The SQL of each condition that can be checked row by row. The key is the condition's field of `DeliveryFilter`.
"""
PLACE_OF: Final = """
    SELECT created_at FROM webhook_deliveries WHERE id <= ? ORDER BY id DESC LIMIT 1
"""


def place_of(tx: Transaction, delivery_id: int) -> Place:
    """Return the position of a delivery.

    If the delivery no longer exists, its time is taken from the delivery with the next lower id, of whatever
    subscription. If no lower id exists, the time is BEGINNING.
    """
    return tx.value(PLACE_OF, (delivery_id,)) or BEGINNING, delivery_id


def newest(tx: Transaction, wanted: DeliveryFilter, before: int, most: int) -> Found:
    """Return at most `most` deliveries, the newest first, that come before the delivery `before`. If `before` is
    0, start with the newest delivery.
    """
    place = place_of(tx, before) if before else (END, LAST_ID)
    return _find(tx, wanted, before, place, most, "<", "DESC")


def oldest(tx: Transaction, wanted: DeliveryFilter, after: int, most: int) -> Found:
    """Return at most `most` deliveries, the oldest first, that come after the delivery `after`. If `after` is 0,
    start with the oldest delivery.
    """
    place = place_of(tx, after) if after else (BEGINNING, 0)
    return _find(tx, wanted, after, place, most, ">", "ASC")


def _find(
    tx: Transaction, wanted: DeliveryFilter, begin: int, place: Place, most: int, beyond: str, order: str
) -> Found:
    index, branches, others = _plan(wanted)
    if not branches:
        return Found([], begin, is_more=False)
    looked_at = LOOKED_AT if others else most + 1
    in_order = f"ORDER BY created_at {order}, id {order} LIMIT :looked_at"
    selects = " UNION ALL ".join(
        f"""
        SELECT * FROM (
            SELECT id, created_at, {" AND ".join(others) or "TRUE"} AS fits
            FROM webhook_deliveries INDEXED BY {index}
            WHERE {_rare("subscription_id = :subscription_id")} {branch.condition}
                AND created_at >= :since AND created_at <= :until
                AND (created_at, id) {beyond} (:place_at, :place_id)
            {in_order}
        )"""
        for branch in branches
    )
    (row,) = tx.rows(
        f"""
        SELECT json_group_array(id ORDER BY created_at {order}, id {order}),
            json_group_array(id ORDER BY created_at {order}, id {order}) FILTER (WHERE fits)
        FROM (SELECT * FROM ({selects}) {in_order})
        """,
        {
            **{name: value for branch in branches for name, value in branch.values.items()},
            "subscription_id": wanted.subscription_id,
            "statuses": dumps(list(wanted.statuses or ())),
            "events": dumps(list(wanted.events or ())),
            "since": wanted.since or BEGINNING,
            "until": wanted.until or END,
            "place_at": place[0],
            "place_id": place[1],
            "looked_at": looked_at,
        },
    )
    seen, fitting = (json.loads(text) for text in row)
    if len(fitting) > most:
        return Found(fitting[:most], fitting[most - 1], is_more=True)
    return Found(fitting, seen[-1] if seen else begin, is_more=len(seen) == looked_at)


def _rare(condition: str) -> str:
    """Return the condition with a hint for SQLite's planner that few rows meet it. Without the hint, SQLite
    sometimes scans the deliveries of all subscriptions and sorts them.
    """
    return f"likelihood({condition}, 0.0001)"


def _plan(wanted: DeliveryFilter) -> tuple[str, list[Branch], list[str]]:
    """Return the name of the index, the searches in this index, and the conditions that are checked row by row. If
    there are no searches, no delivery can match.

    Most deliveries have the status `delivered`. If the filter has this status and also has events, the index of
    events is therefore used. If the filter has records, the index of records is always used. Without any of these
    conditions, the deliveries of all statuses are merged by time.
    """
    if () in (wanted.statuses, wanted.events, wanted.records):
        return "", [], []
    is_rare = wanted.statuses is not None and "delivered" not in wanted.statuses
    tests = [] if wanted.has_tests else ["test_event IS NULL"]
    events = [] if wanted.events is None else [OTHERS["events"]]
    statuses = [] if wanted.statuses is None else [OTHERS["statuses"]]
    if wanted.records is not None:
        return "webhook_deliveries_by_record", _of_records(wanted.records), [*statuses, *events, *tests]
    if wanted.events is not None and not is_rare:
        return "webhook_deliveries_by_event", _each("event", wanted.events), [*statuses, *tests]
    return (
        "webhook_deliveries_by_status",
        _each("status", wanted.statuses or DELIVERY_STATUSES),
        [*events, *tests],
    )


def _each(column: str, values: tuple[str, ...]) -> list[Branch]:
    return [
        Branch(f"AND {_rare(f'{column} = :{column}_{number}')}", {f"{column}_{number}": value})
        for number, value in enumerate(values)
    ]


def _of_records(records: tuple[Record, ...]) -> list[Branch]:
    return [
        Branch(
            f"AND {_rare(f'entity = :entity_{number}')} AND {_rare(f'entity_id = :entity_id_{number}')}",
            {f"entity_{number}": entity, f"entity_id_{number}": entity_id},
        )
        for number, (entity, entity_id) in enumerate(records)
    ]
