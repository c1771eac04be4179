"""Which deliveries of a subscription one looks for. They are found by an index, however many there are.

Of several conditions, one chooses the index; the others are looked at on the way, at so many deliveries at a time.
The order is that of queueing: by time, then by id.
"""

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction

LOOKED_AT: Final = 5000
"""Deliveries that are looked at for one page, when an index does not find them alone."""
BEGINNING: Final = ""
END: Final = "9999"
"""Before and after all moments."""
LAST_ID: Final = 2**62

Place = tuple[str, int]
"""Of a delivery in the order: when it was queued, and its id."""
Record = tuple[str, int]
"""The entity of an event, such as sales_order, and the id."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Those for which each condition holds that is given; an empty one holds for none. `since` and `until` belong
    to the time.
    """

    subscription_id: int
    statuses: tuple[str, ...] | None = None
    events: tuple[str, ...] | None = None
    records: tuple[Record, ...] | None = None
    since: str | None = None
    until: str | None = None
    has_tests: bool = True


class Found(NamedTuple):
    """Ids in order. `last`: the id of the last that was looked at; when there was none, the one to begin beyond.
    `is_more`: there may be others after it.
    """

    ids: list[int]
    last: int
    is_more: bool


class Branch(NamedTuple):
    """What the beginning of an index is to be."""

    condition: str
    values: Mapping[str, object]


OTHERS: Final = {
    "statuses": "status IN (SELECT value FROM json_each(:statuses))",
    "events": "event IN (SELECT value FROM json_each(:events))",
}
"""Conditions that are looked at on the way."""
PLACE_OF: Final = """
    SELECT created_at FROM webhook_deliveries WHERE subscription_id = ? AND id <= ? ORDER BY id DESC LIMIT 1
"""


def place_of(tx: Transaction, subscription_id: int, delivery_id: int) -> Place:
    """Of a delivery, or of where it would be. That of one before all is before all."""
    return tx.value(PLACE_OF, (subscription_id, delivery_id)) or BEGINNING, delivery_id


def newest(tx: Transaction, wanted: Wanted, before: int, most: int) -> Found:
    """The newest first: those before the delivery of this id; 0 is the end of the log."""
    place = place_of(tx, wanted.subscription_id, before) if before else (END, LAST_ID)
    return _find(tx, wanted, before, place, most, "<", "DESC")


def oldest(tx: Transaction, wanted: Wanted, after: int, most: int) -> Found:
    """The oldest first: those after the delivery of this id; 0 is the beginning of the log."""
    place = place_of(tx, wanted.subscription_id, after) if after else (BEGINNING, 0)
    return _find(tx, wanted, after, place, most, ">", "ASC")


def _find(tx: Transaction, wanted: Wanted, begin: int, place: Place, most: int, beyond: str, order: str) -> Found:
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
    """For SQLite's planner: by the statistics of a table with few subscriptions, it would rather skip through all
    of them, and sort what it finds.
    """
    return f"likelihood({condition}, 0.0001)"


def _plan(wanted: Wanted) -> tuple[str, list[Branch], list[str]]:
    """The index, what it begins with, and what is looked at on the way. Most deliveries are delivered: a status
    that says so chooses little.
    """
    if () in (wanted.statuses, wanted.events, wanted.records):
        return "", [], []
    is_rare = wanted.statuses is not None and "delivered" not in wanted.statuses
    tests = [] if wanted.has_tests else ["test_event IS NULL"]
    events = [] if wanted.events is None else [OTHERS["events"]]
    statuses = [] if wanted.statuses is None else [OTHERS["statuses"]]
    if wanted.records is not None:
        return "webhook_deliveries_by_record", _of_records(wanted.records), [*statuses, *events, *tests]
    if wanted.statuses is not None and (is_rare or wanted.events is None):
        return "webhook_deliveries_by_status", _each("status", wanted.statuses), [*events, *tests]
    if wanted.events is not None:
        return "webhook_deliveries_by_event", _each("event", wanted.events), [*statuses, *tests]
    return "webhook_deliveries_by_time", [Branch("", {})], tests


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
