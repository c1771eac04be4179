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

This page says what wmsd guarantees if the clock, the disk or the machine fails, and how this was tested.

`scripts/soak --only faults` ran on {date} for {minutes:.0f} minutes, with the seed {seed}, on {cores} processors,
Linux {kernel}, Python {python}, SQLite {sqlite}: {kinds} faults in {trials} trials and {kills} kills under load,
{acknowledged} writes acknowledged. **{verdict}** `tests/test_under_faults.py` runs a short form with every change.

## Guarantees

Clients write and read in three companies while a test causes a fault, and ends it. These rules, the *laws* in the
tables, must hold:

- every acknowledged write is stored, once;
- no part of a refused write is stored;
- a write with an unknown outcome is stored at most once, and exactly once after a repetition with the same
  `Idempotency-Key`;
- the server answers every request within 20 seconds, with a correct answer or a correct error, or closes the
  connection;
- the server refuses no request of companies that the fault does not affect, and answers 99 of 100 of these
  requests in less than {slowest:.0f} ms;
- {whole:.0f} s after the fault the server refuses nothing and health is `ok`, without a manual restart;
- the log reports the fault once, without a stack trace;
- SIGTERM ends the process within {stop:.0f} s with status 0, and `wmsd doctor` finds no problems.

In the tables, `refused` and `unknown` count requests of both trials of a fault. `others' p99` is the time in
which 99 of 100 requests of the other companies were answered. `whole after` is the time from the end of the
fault until the server works fully. A *log* is the write-ahead log of a file (`-wal`). If only the law of the
{slowest:.0f} ms was broken while other virtual machines took more than {much:.0%} of the processors, the fault
was tested again. This happened {again} times.
"""
TABLE: Final = """
| fault | refused | unknown | others' p99 | whole after |
|---|--:|--:|--:|--:|
"""
KILLS: Final = """
## Kills

SIGKILL ends the process while clients send 360 requests a second. After the restart, clients repeat unanswered
requests with their keys. {acknowledged} acknowledged writes were checked: {broken} laws broken.

| killed at | times |
|---|--:|
"""
FOOT: Final = """
## Not tested

- A disk that reports a sync without doing it, or changes bytes. `wmsd doctor` finds damage, but cannot repair it.
- Network file systems: SQLite's locks and syncs are not reliable there.
- A power cut. `tests/db/files/test_syncs.py` checks that wmsd answers only after a sync.
- A file that another program overwrites in place, as `cp` does. Stop the server before you put a copy there.
- A log index that is truncated while a command shares the file with the server: both processes crash.
- A lack of memory so great that the system kills processes: this is the same as a kill.
"""


DISASTERS: Final = "\n## Disasters\n"
DISASTERS_DONE: Final = """
`scripts/soak --only disaster` ran on {date} for {minutes:.0f} minutes. **{verdict}**
`tests/events/outbox/test_history_cuts.py` runs a short form with every change.

A site loses all changes after its last backup, {rounds} times in a row. After each rescue, an integrator continues
with old cursors, ETags, keys and webhook. These laws must hold:

- every change that was acknowledged before the start of the backup is stored;
- wmsd uses no id, code, event number or webhook delivery number twice;
- the API reports to the integrator what is lost, and names each number that a receiver lacks;
- the integrator gets every event, and every record by cursor and by `updated_since`, and never changes a wrong
  record by mistake;
- nothing is lost if only `platform.db` was lost, or if the company was moved to another installation;
- `wmsd doctor` finds no problems, a backup can be created and verified, a newer program migrates the files,
  another installation can import the company, and another machine can use the replica.

| rescue | keys in the backup | disasters | laws broken |
|---|---|--:|--:|
"""


class Rescued(NamedTuple):
    """The result of one kind of rescue. `seal` says how the keys in its backups are encrypted."""

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
        kinds=len(tried),
        trials=sum(each.times for each in tried),
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
    name = tried.fault.name + (f" (laws broken: {len(tried.broken)})" if tried.broken else "")
    cells = (name, tried.refused, tried.unknown, slowest, f"{tried.whole_after:.1f} s")
    return f"| {' | '.join(map(str, cells))} |\n"
