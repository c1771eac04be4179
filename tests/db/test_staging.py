"""Tests of a long write that a user interrupts at the terminal, while SQLite asks whether to continue."""

from collections.abc import Callable
from contextlib import closing

import pytest

from tests.support.world import World
from wmsd.db.engine.staging import Staging
from wmsd.db.engine.transaction import Transaction

LONG = """
    WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 3000000)
    SELECT max(number) FROM numbers
"""


def abort(staging: Staging) -> None:
    raise KeyboardInterrupt


def abort_just_before(staging: Staging) -> None:
    """Simulate a Ctrl-C just before the first statement of the handler.

    Python loses such an exception, and only the SQL statement is interrupted.
    """
    staging._connection.interrupt()


@pytest.mark.parametrize("ends", [abort, abort_just_before])
async def test_ctrl_c_ends_a_write_as_it_ends_other_work(world: World, ends: Callable[[Staging], None]) -> None:
    def write(tx: Transaction) -> None:
        tx.execute("UPDATE change_sequence SET value = value + 1000")
        tx.value(LONG)

    before = await world.rows("SELECT value FROM change_sequence")
    with closing((await world.database()).staging()) as staging:
        with pytest.raises(KeyboardInterrupt):
            staging.write(write, look=lambda: ends(staging))
        assert await world.rows("SELECT value FROM change_sequence") == before
        assert staging.write(lambda tx: tx.value("SELECT 7")) == 7
