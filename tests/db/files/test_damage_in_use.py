"""Tests of files that are damaged under a running server: it reports the damage until it is repaired, and stops
when told.
"""

import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.support.backups import add_article, sql
from tests.support.command import Home, Server, first_day
from tests.support.forked import LONGEST
from wmsd.interfaces.cli.maintenance.doctor import ONLY_WARNINGS
from wmsd.server.alerts.alerts_file import read_alerts


@pytest.fixture
def installation(home: Home) -> Home:
    return first_day(home)


def scratch(file: Path, table: str) -> None:
    """Overwrite the first page of a table."""
    [(page, size)] = sql(
        file, f"SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = '{table}'"
    )
    with file.open("r+b") as opened:
        opened.seek((page - 1) * size)
        opened.write(bytes(range(256)) * (size // 256))


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + LONGEST
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


def alerts(home: Home) -> list[str]:
    return [each.kind for each in read_alerts(home.data).open if each.kind != "backup"]


def write(server: Server) -> int:
    return int(server.send("POST", "/api/articles", {"code": "A", "name": "A"})[0])


def test_a_company_that_is_read_and_not_written_is_told_until_it_is_restored(installation: Home) -> None:
    archive = installation.folder / str(installation.ok("backup", "create", "--json").json["backup"])
    scratch(installation.data / "companies" / "1.db", "events")
    with installation.serving() as server:
        assert [write(server) for _ in range(3)] == [503] * 3
        assert server.get("/api/articles")[0] == 200
        until(lambda: "company-down" in alerts(installation))
        done = installation.run("status")
        assert (done.code, "The files of these companies cannot be used: ACME." in done.err) == (1, True)
        assert server.get("/api/health", token="", company=None)[1]["status"] == "degraded"
        installation.ok("backup", "restore", archive, "--company", "ACME", "--yes")
        assert write(server) == 201
        until(lambda: "cannot be used" not in installation.run("status").err)


def test_a_server_whose_platform_file_was_overwritten_is_told_of_and_ends(installation: Home) -> None:
    platform = installation.data / "platform.db"
    with installation.serving() as server:
        add_article(server, "A")
        with platform.open("r+b") as opened:
            opened.seek(9000)
            opened.write(bytes(range(256)) * 400)
        until(lambda: server.get("/api/articles")[0] == 503)
        until(lambda: "platform-down" in alerts(installation))
        code, health = server.get("/api/health", token="", company=None)
        assert (code, health["status"]) == (503, "unavailable")
        assert "alert is open" in installation.run("status").err
        server.stop()
        assert "stopped" in server.log.splitlines()[-1]
    done = installation.run("status")
    assert (done.code, f"{platform.name} is damaged: " in done.err) == (1, True)
    assert installation.run("doctor").code not in (0, ONLY_WARNINGS)


@pytest.mark.parametrize("is_served", [True, False])
def test_a_command_that_meets_damage_names_the_way_on(installation: Home, is_served: bool) -> None:
    scratch(installation.data / "companies" / "1.db", "articles")
    with installation.serving() if is_served else nullcontext():
        said = installation.refused("article", "list", "--company", "ACME")
    assert said == (
        "A file in the data folder is damaged (database disk image is malformed). `wmsd doctor` says "
        "which file, and how to restore it."
    )
