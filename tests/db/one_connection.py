"""Groups of units that run over one connection, without threads."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from tests.db.test_unit_of_work import ADD, CODES
from tests.support.steering import CountedIds, SteeredClock
from wmsd.base.clock import OrderedClock
from wmsd.contract.context import Actor
from wmsd.db.engine.replaced_files import Standing
from wmsd.db.engine.sqlite import connect, log_bytes
from wmsd.db.engine.transaction import Transaction
from wmsd.db.engine.unit_of_work import CommitGroup
from wmsd.db.engine.work import Work
from wmsd.db.migrations import COMPANY, create_file

USER: Final = Actor("user", 7)
PROVIDED: Final = "what the installation provides"


class Scene:
    """A file with a connection that writes to it. `codes` shows what another program sees."""

    def __init__(self, path: Path) -> None:
        self.path = path
        create_file(path, COMPANY)
        self.clock = SteeredClock()
        self.ordered = OrderedClock(self.clock)
        self.ids = CountedIds()
        self.standing = Standing(path)
        self.standing.begin()
        self.connection = connect(path)
        self.commits = CommitGroup(self.ordered, self.ids, {str: PROVIDED}, self.standing)

    def group(self, *actions: Callable[[Transaction], Any]) -> list[Work]:
        return [Work(action, USER, asyncio.get_running_loop().create_future()) for action in actions]

    def write(self, *actions: Callable[[Transaction], Any]) -> list[Work]:
        group = self.group(*actions)
        self.commits(self.connection, group)
        return group

    @property
    def log_bytes(self) -> int:
        return log_bytes(self.path)

    @property
    def codes(self) -> list[str]:
        """The codes as another program sees them: only what is committed."""
        with closing(connect(self.path, read_only=True)) as other:
            return [code for (code,) in other.execute(CODES)]


def add(code: str) -> Callable[[Transaction], int]:
    return lambda tx: tx.insert(ADD, (code,))


def told(tx: Transaction) -> Any:
    """Return what a unit of work knows of itself."""
    return tx.now, tx.ordered_now, tx.actor, tx.service(str), tx.ids
