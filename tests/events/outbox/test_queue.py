"""Tests of the queue: deliveries are queued with the commit of their events, whichever units share the commit."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.steering import CountedIds, SteeredClock
from wmsd.base.clock import OrderedClock
from wmsd.db.engine.database import Database
from wmsd.db.engine.sqlite import connect
from wmsd.db.engine.transaction import Transaction
from wmsd.db.engine.wal_frames import pages_in
from wmsd.db.migrations import COMPANY, create_file
from wmsd.events.outbox.events import record_event

Unit = Callable[[Transaction], None]
SUBSCRIBE = """
    INSERT INTO webhook_subscriptions
        (name, url, events, auth_type, active, credentials, has_short_secret, created_at, updated_at)
    VALUES ('ERP', 'https://erp.example.com/', '["*"]', 'hmac', 1, 'sealed', 0, '', '')
"""
QUEUED = "SELECT subscription_id, sequence, event_sequence, entity_id, status FROM webhook_deliveries ORDER BY id"

SUBSCRIPTIONS, EARLIER = 100, 200
EARLIER_DELIVERIES = """
    INSERT INTO webhook_deliveries
        (subscription_id, sequence, event_sequence, event, entity, entity_id, status, attempts_left, created_at)
    SELECT value % :subscriptions + 1, value / :subscriptions + 1, value / :subscriptions + 1, 'article.updated',
        'article', value / :subscriptions + 1, 'delivered', 4, '2026'
    FROM (
        WITH RECURSIVE numbers (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM numbers LIMIT :deliveries)
        SELECT value FROM numbers
    )
"""


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    create_file(tmp_path / "1.db", COMPANY)
    database = Database(tmp_path / "1.db", OrderedClock(SteeredClock()), CountedIds())
    await database.write(subscribe)
    yield database
    await database.close()


class Refused(Exception):
    pass


def subscribe(tx: Transaction) -> None:
    tx.execute("INSERT INTO webhook_topics VALUES ('*', ?)", (tx.insert(SUBSCRIBE),))


def event_of(entity_id: int) -> Unit:
    return lambda tx: record_event(tx, "article.updated", entity_id, "{}")


def refused_event_of(entity_id: int) -> Unit:
    def unit(tx: Transaction) -> None:
        record_event(tx, "article.updated", entity_id, "{}")
        raise Refused

    return unit


async def together(database: Database, *units: Unit) -> None:
    """Run the units with one commit, because they wait while the writer is busy."""
    go_on = threading.Event()
    first = asyncio.ensure_future(database.write(lambda tx: go_on.wait()))
    waiting = [asyncio.ensure_future(database.write(unit)) for unit in units]
    await asyncio.sleep(0)
    go_on.set()
    await first
    await asyncio.gather(*waiting, return_exceptions=True)


async def queued(database: Database) -> list[tuple[Any, ...]]:
    return await database.read(lambda tx: tx.rows(QUEUED))


async def test_units_of_one_commit_are_numbered_and_held_in_their_order(database: Database) -> None:
    await together(database, event_of(7), event_of(8), event_of(7))
    assert await queued(database) == [(1, 1, 1, 7, "pending"), (1, 2, 2, 8, "pending"), (1, 3, 3, 7, "held")]


@pytest.mark.parametrize("place", range(3))
async def test_a_unit_that_is_undone_takes_its_events_and_nobody_elses(database: Database, place: int) -> None:
    units = [event_of(7), event_of(8)]
    units.insert(place, refused_event_of(9))
    await together(database, *units)
    assert await queued(database) == [(1, 1, 1, 7, "pending"), (1, 2, 2, 8, "pending")]


async def test_when_all_are_undone_nothing_is_queued_then_or_later(database: Database) -> None:
    await together(database, refused_event_of(7), refused_event_of(8))
    assert await queued(database) == []
    await together(database, event_of(9))
    assert await queued(database) == [(1, 1, 1, 9, "pending")]


async def test_a_later_commit_queues_only_its_own(database: Database) -> None:
    await together(database, event_of(7))
    await together(database, event_of(7), event_of(8))
    assert await queued(database) == [(1, 1, 1, 7, "pending"), (1, 2, 2, 7, "held"), (1, 3, 3, 8, "pending")]


async def test_deliveries_of_one_event_share_pages(database: Database, tmp_path: Path) -> None:
    """An event writes few pages for each of many subscriptions, however many deliveries each has: three of its
    indexes begin with the subscription.
    """

    def subscriptions_with_earlier_deliveries(tx: Transaction) -> None:
        for _ in range(SUBSCRIPTIONS - 1):
            subscribe(tx)
        given = {"subscriptions": SUBSCRIPTIONS, "deliveries": SUBSCRIPTIONS * EARLIER}
        tx.execute(EARLIER_DELIVERIES, given)

    await database.write(subscriptions_with_earlier_deliveries)
    await database.write(event_of(EARLIER + 1))
    with closing(connect(tmp_path / "1.db")) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    await database.write(event_of(EARLIER + 2))
    with (tmp_path / "1.db-wal").open("rb") as log:
        written = len(list(pages_in(log)))
    assert 0 < written / SUBSCRIPTIONS < 4
