"""Tests of companies that move and of files that are upgraded, killed at every distinguishable step."""

import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from tests.support.command import Home, first_day
from tests.support.forked import LONGEST, Program
from tests.support.injected import killed_at
from tests.support.newer_wmsd import VERSION, newer_wmsd
from tests.support.survival import STRIDE, killed_at_each
from wmsd.db.engine.sqlite import connect_as_it_is

STEPS = ("rename", "fsync", "mkdir")
ARTICLES = 50
COUNT = "SELECT count(*) FROM articles"
UP_TO_DATE = "company's file is up to date"
HAS_PALLETS = "SELECT count(*) FROM sqlite_schema WHERE name = 'pallets'"


def answer(file: Path, sql: str) -> int:
    with closing(connect_as_it_is(file)) as connection:
        return int(connection.execute(sql).fetchone()[0])


@pytest.fixture
def installation(home: Home) -> Home:
    first_day(home)
    rows = "".join(f"A{number},Article {number}\n" for number in range(ARTICLES))
    home.ok("import", "articles", "-", "--company", "ACME", stdin="code,name\n" + rows)
    return home


@pytest.mark.long
def test_a_company_that_arrives_is_there_wholly_or_not_at_all(installation: Home) -> None:
    file = installation.folder / "acme.tar.gz"
    installation.ok("company", "export", "ACME", file)
    codes = (f"GUEST{number}" for number in count())
    code = ""

    def arrive() -> tuple[str | Path, ...]:
        nonlocal code
        code = next(codes)
        return ("company", "import", file, "--code", code)

    met: set[str] = set()
    for call, number in killed_at_each(installation, STEPS, arrive):
        met.add(call)
        listed = {each["code"]: each["id"] for each in installation.ok("company", "list", "--json").json}
        if code in listed:
            assert answer(installation.data / "companies" / f"{listed[code]}.db", COUNT) == ARTICLES, (
                call,
                number,
            )
        reports = installation.run("doctor", "--json").json
        assert all(report["ok"] for report in reports), (call, number, reports)
    assert {"rename", "fsync"} <= met
    installation.ok("company", "import", file, "--code", "LAST")


def killed_servers(newer: Home, pristine: Path) -> Iterator[str]:
    """Start a newer server on the same files again and again, and kill it at a step: at each, or in a
    quick run at some. Yield each step."""
    log = newer.folder / "paused.log"
    for call in STEPS:
        for number in count(1, STRIDE):
            shutil.rmtree(newer.data)
            shutil.copytree(pristine, newer.data)
            with newer.paused("serve", "--listen", "127.0.0.1:0") as server, killed_at(server.pid, call, number):
                os.kill(server.pid, signal.SIGCONT)
                while server.poll() is None and UP_TO_DATE not in log.read_text():
                    time.sleep(0.01)
                server.terminate()
                server.wait(LONGEST)
            if UP_TO_DATE in log.read_text():
                break
            yield f"{call} {number}"


def content(file: Path) -> dict[str, list[object]]:
    """Return the rows of each table except `log`, whose name differs in each copy."""
    with closing(connect_as_it_is(file, without_log=True)) as connection:
        tables = (
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'log' AND sql NOT LIKE '%VIRTUAL%'"
        )
        return {
            name: connection.execute(f'SELECT * FROM "{name}"').fetchall()
            for (name,) in connection.execute(tables).fetchall()
        }


@pytest.mark.long
def test_a_file_is_brought_up_to_date_wholly_or_not_at_all(installation: Home, tmp_path: Path) -> None:
    tree, pristine = newer_wmsd(tmp_path / "newer"), tmp_path / "pristine"
    shutil.copytree(installation.data, pristine, ignore=shutil.ignore_patterns("*.socket", "*-wal", "*-shm"))
    (tmp_path / "program").mkdir()
    newer = Home(Program(tmp_path / "program", tree), installation.folder)
    steps: list[str] = []
    for step in killed_servers(newer, pristine):
        steps.append(step)
        for name in ("platform.db", "companies/1.db"):
            file, copy = newer.data / name, newer.data / f"before-{VERSION}" / name
            if answer(file, HAS_PALLETS):
                assert content(copy) == content(pristine / name), step
        assert answer(newer.data / "companies" / "1.db", COUNT) == ARTICLES, step
        with newer.serving() as server:
            assert server.get("/api/articles")[1]["meta"]["total"] == ARTICLES, step
    newer.program.end()
    assert len(steps) >= len(STEPS)
