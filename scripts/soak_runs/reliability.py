"""The page of the guide about the tests of reliability and their results: `wmsd/docs/reliability.md`."""

import os
import platform
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from soak_runs import stolen
from tests.support.faults import laws
from tests.support.faults.kills import Killed
from wmsd import docs
from wmsd.db.engine.sqlite import sqlite3

if TYPE_CHECKING:
    from soak_runs.faults import Tried

PAGE: Final = Path(docs.__file__).parent / "reliability.md"
HEAD: Final = """\
# Reliability

What wmsd was put through, how often, and what came of it. `scripts/soak --only faults` does it all and writes this
page; a short form runs with every change, in `tests/test_under_faults.py`.

Done on {date} in {minutes:.0f} minutes, with the seed {seed}, on {cores} processors, Linux {kernel},
Python {python}, SQLite {sqlite}: {faults} faults and {kills} kills under load, {acknowledged} writes acknowledged.
**{verdict}**

## What must hold

A real server on loopback has three companies, and clients that write and read in each at a steady pace. Something
is broken under it, and mended. Then

- every write that was acknowledged is there, once;
- of every write that was refused nothing is there;
- a write whose outcome is unknown is there once or not at all, and when it is repeated with its `Idempotency-Key`
  it is done once;
- every request is answered within 20 seconds, with a sentence that is true, or its connection is closed;
- the companies that the fault does not concern are served: none of their requests is refused, and 99 of 100 take
  less than {slowest:.0f} ms;
- {whole:.0f} s after the end of the fault nothing is refused any more and health is `ok`, and nobody had to start
  anything again;
- the log says what happened, once, and has no trace;
- SIGTERM ends the process within {stop:.0f} s with status 0, and `wmsd doctor` finds nothing.

A virtual machine's processors are its host's. A fault during which the host took more than {much:.0%} of them for
others, and which broke no law but that of the {slowest:.0f} ms, is tried again: here {again} times.
"""
TABLE: Final = """
| fault | times | acknowledged | refused | unknown | others' p99 | whole after | laws broken |
|---|--:|--:|--:|--:|--:|--:|--:|
"""
KILLS: Final = """
## Kills

The process is ended by SIGKILL while clients send 360 requests a second: at the beginning of a system call, at
any moment, while the disk fails, and during its start. It is started again, and what was left open is repeated
with its key. {acknowledged} acknowledged writes were looked for: {broken} laws broken.

| struck at | times |
|---|--:|
"""
FOOT: Final = """
## What was not tested

- A disk that lies: one that says that it has synced and has not, or changes bytes by itself. `wmsd doctor` finds
  damage, and cannot mend it.
- Network file systems. SQLite's locks and syncs do not hold there.
- A power cut: what the kernel holds in memory outlives a kill. That nothing is answered before its sync is shown
  by tests of the order of system calls (`tests/db/files/test_syncs.py`).
- A file that somebody overwrites in its place, as `cp` does: it keeps its identity, and is damaged. Stop the
  server before you put a copy there.
- The index of a log that is cut while a command has borrowed the file: only then it is shared, and whoever cuts it
  ends the process.
- Being short of memory in the way that has the system kill processes: that is a kill.
"""


DISASTERS: Final = "\n## Disasters\n"
DISASTERS_DONE: Final = """
Done on {date} in {minutes:.0f} minutes by `scripts/soak --only disaster`; a short form runs with every change, in
`tests/events/outbox/test_history_cuts.py`. **{verdict}**

A site loses what came after its last backup, {rounds} times in a row. Articles are created while the backup is
made. After each rescue an integrator reads on, with the cursors, ETags, keys and the webhook that it had. Then

- what was acknowledged before the backup began is there;
- no id, code, event or number of a delivery is given twice, and each number that a receiver lacks is named;
- the integrator is told what is gone, and has every event that the company has;
- it meets every record once more, by its cursor and by `updated_since`, and changes no stranger;
- where only `platform.db` was lost, or the company was moved to another installation, nothing is gone;
- `wmsd doctor` finds nothing, the site can be saved and proven, a newer program brings its files up to date,
  another installation takes the company, and another box its replica.

| rescue | keys in the backup | disasters | laws broken |
|---|---|--:|--:|
"""


class Rescued(NamedTuple):
    """The result of one kind of rescue. `seal` says what the keys in its backups are sealed with."""

    rescue: str
    seal: str
    disasters: int
    broken: int


def write(tried: Sequence["Tried"], killed: Killed, began: datetime, seed: int, seconds: float) -> None:
    """Write the page, except its part about disasters, which stays as it is."""
    _, heading, disasters = PAGE.read_text(encoding="utf-8").partition(DISASTERS)
    parts = [*_parts(tried, killed, began, seed, seconds), heading, disasters]
    PAGE.write_text("".join(parts), encoding="utf-8")


def write_disasters(rescued: Sequence[Rescued], began: datetime, rounds: int, seconds: float) -> None:
    """Write the part about disasters. The rest of the page stays as it is."""
    others, _, _ = PAGE.read_text(encoding="utf-8").partition(DISASTERS)
    broken = sum(each.broken for each in rescued)
    head = DISASTERS_DONE.format(
        date=f"{began:%Y-%m-%d}",
        minutes=seconds / 60,
        rounds=rounds,
        verdict="Every law held." if not broken else f"Laws were broken {broken} times.",
    )
    rows = [f"| {' | '.join(map(str, each))} |\n" for each in rescued]
    PAGE.write_text("".join([others, DISASTERS, head, *rows]), encoding="utf-8")


def _parts(tried: Sequence["Tried"], killed: Killed, began: datetime, seed: int, seconds: float) -> Iterator[str]:
    broken = sum(len(each.broken) for each in tried) + len(killed.broken)
    yield HEAD.format(
        date=f"{began:%Y-%m-%d}",
        minutes=seconds / 60,
        seed=seed,
        cores=os.cpu_count(),
        kernel=platform.release().partition("-")[0],
        python=platform.python_version(),
        sqlite=sqlite3.sqlite_version,
        faults=sum(each.times for each in tried),
        kills=killed.kills.total(),
        acknowledged=sum(each.acknowledged for each in tried) + killed.acknowledged,
        verdict="Every law held." if not broken else f"Laws were broken {broken} times.",
        slowest=laws.SLOWEST * 1000,
        much=stolen.MUCH,
        again=sum(each.again for each in tried),
        whole=laws.WHOLE_SECONDS,
        stop=laws.STOP_SECONDS,
    )
    for family in dict.fromkeys(each.family for each in tried):
        yield f"\n## {family}\n{TABLE}"
        yield from (_row(each) for each in tried if each.family == family)
    yield KILLS.format(acknowledged=killed.acknowledged, broken=len(killed.broken))
    yield from (f"| {where} | {times} |\n" for where, times in sorted(killed.kills.items()))
    yield FOOT


def _row(tried: "Tried") -> str:
    slowest = "" if tried.slowest is None else f"{tried.slowest * 1000:.0f} ms"
    cells = (
        *(tried.fault.name, tried.times, tried.acknowledged, tried.refused, tried.unknown, slowest),
        *(f"{tried.whole_after:.1f} s", len(tried.broken)),
    )
    return f"| {' | '.join(map(str, cells))} |\n"
