"""Tests that end a long read because the log has grown too large meanwhile."""

import asyncio
import time

import pytest

from tests.support.world import World
from wmsd.db.engine import database as databases
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.sqlite import log_bytes
from wmsd.db.engine.transaction import Transaction

ENDLESS = "WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted) SELECT max(n) FROM counted"


async def test_a_long_read_is_ended_and_the_log_is_given_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "MOST_LOG_BYTES", 2_000_000)
    monkeypatch.setattr(databases, "LOOK_AT_LOG_SECONDS", 0.05)
    database = await world.database()
    reading = asyncio.ensure_future(database.read_long(lambda tx: tx.value(ENDLESS)))
    until = time.monotonic() + 30

    def fill(tx: Transaction) -> None:
        tx.execute("CREATE TABLE IF NOT EXISTS filling (x BLOB)")
        tx.execute("INSERT INTO filling VALUES (randomblob(400000))")

    while not reading.done():
        assert time.monotonic() < until
        await database.write(fill)
    with pytest.raises(
        StorageError,
        match=r"This read was stopped, because over 1 MB of changes were written to 1\.db in the meantime",
    ):
        await reading
    grown = log_bytes(database.path)
    for _ in range(30):
        await database.write(fill)
    assert log_bytes(database.path) <= max(grown, 8_000_000)
