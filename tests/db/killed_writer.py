"""Writes to a file until it is killed, and prints each commit.

Run as a script: FILE, SEED, and `alone` or `shared`.
"""

import asyncio
import random
import sys
from pathlib import Path

from tests.db.test_unit_of_work import ADD
from tests.support.steering import CountedIds, SteeredClock
from wmsd.base.clock import OrderedClock
from wmsd.contract.context import PROGRAM
from wmsd.db.engine.replaced_files import Standing
from wmsd.db.engine.sqlite import connect
from wmsd.db.engine.transaction import Transaction
from wmsd.db.engine.unit_of_work import CommitGroup
from wmsd.db.engine.work import Work

WIDE = "x" * 3000
COMMITS_OF_A_CONNECTION = 120


async def write(path: Path, seed: str, alone: bool) -> None:
    chance, number = random.Random(seed), 0
    while True:
        standing = Standing(path)
        standing.begin(alone)
        connection = connect(path, alone=alone)
        commits = CommitGroup(OrderedClock(SteeredClock()), CountedIds(), {}, standing)
        for _ in range(chance.randint(1, COMMITS_OF_A_CONNECTION)):
            codes = [f"{seed}-{number + each}" for each in range(chance.randint(1, 20))]
            number += len(codes)

            def add(tx: Transaction, codes: list[str] = codes) -> None:
                for code in codes:
                    tx.insert(ADD, (f"{code}-{WIDE}",))

            commits(connection, [Work(add, PROGRAM, asyncio.get_running_loop().create_future())])
            print(codes[-1], flush=True)
        connection.close()


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "alone"))
