"""The jobs that the server runs automatically every minute and every hour, seen from outside, with a clock that
runs fast.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.borrowing import borrowed
from tests.support.command import EMAIL, Home, first_day
from tests.support.fast_time import FastTime

PLATFORM, COMPANY = "platform.db", "companies/1.db"
LONG_AGO = "2020-01-01T00:00:00.000Z"
ALL_TOKENS = "SELECT name FROM tokens ORDER BY id"
USED_TOKENS = "SELECT name FROM tokens WHERE last_used_at IS NOT NULL"
REQUESTS = "SELECT sum(requests) FROM request_counts"
OLD_THINGS = """
    SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM idempotency_keys),
        (SELECT count(*) FROM webhook_deliveries)
"""
AN_OLD_EVENT = f"UPDATE events SET occurred_at = '{LONG_AGO}'"
AN_OLD_KEY = f"""
    INSERT INTO idempotency_keys (scope, request_hash, status, headers, body, created_at)
    VALUES ('x', x'00', 201, '{{}}', x'', '{LONG_AGO}')
"""
AN_OLD_DELIVERY = f"""
    INSERT INTO webhook_deliveries (subscription_id, sequence, test_event, entity, entity_id, status,
        attempts_left, created_at)
    VALUES (1, 1, '{{}}', 'article', 1, 'delivered', 0, '{LONG_AGO}')
"""
ENOUGH = 20.0
"""The seconds after which all jobs have run, even on a busy machine."""


def ask(home: Home, name: str, sql: str) -> list[Any]:
    with borrowed(home.data, name) as connection:
        return connection.execute(sql).fetchall()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + ENOUGH
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def with_old_things(home: Home) -> None:
    """Create an expired token, and an event, an idempotency key and a webhook delivery that are past their
    retention.
    """
    first_day(home)
    home.ok("token", "create", "--user", EMAIL, "--ability", "*", "--name", "ended")
    ask(home, PLATFORM, f"UPDATE tokens SET expires_at = '{LONG_AGO}' WHERE name = 'ended'")
    home.ok("import", "articles", "-", "--company", "ACME", stdin="code,name\nA,Apple\n")
    for sql in (AN_OLD_EVENT, AN_OLD_KEY, AN_OLD_DELIVERY):
        ask(home, COMPANY, sql)


def test_what_is_done_every_minute_and_every_hour_is_done(home: Home, tmp_path: Path) -> None:
    with_old_things(home)
    fast = FastTime.made(tmp_path / "speed")
    with home.serving(env=fast.environment) as server:
        assert server.get("/api/articles")[0] == 200
        assert ask(home, PLATFORM, ALL_TOKENS) == [("command line",), ("ended",)]
        assert ask(home, PLATFORM, USED_TOKENS) == []
        assert ask(home, COMPANY, OLD_THINGS) == [(1, 1, 1)]
        fast.run(600)
        until(lambda: ask(home, PLATFORM, USED_TOKENS) == [("command line",)])
        until(lambda: ask(home, PLATFORM, REQUESTS) == [(1,)])
        until(lambda: ask(home, PLATFORM, ALL_TOKENS) == [("command line",)])
        until(lambda: ask(home, COMPANY, OLD_THINGS) == [(0, 0, 0)])
