"""Tests of a disk that fails under a running server: a flood of requests is one line in the log."""

import json
import resource
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.support.command import Home, Server, first_day
from tests.support.forked import LONGEST
from tests.support.injected import failing
from tests.support.small_disk import fill
from wmsd.base.machine.disk import LEAST_REFUSED
from wmsd.data_folder.folder import RESERVE_BYTES
from wmsd.db.engine.sqlite import LOG_BYTES

QUIET = {"WMSD_LIMITS_DATA_PER_MINUTE": "100000", "WMSD_LOG_REQUESTS": "false"}


def post(server: Server, code: str) -> int:
    request = urllib.request.Request(
        f"{server.address}/api/articles",
        data=json.dumps({"code": code, "name": "x"}).encode(),
        headers={
            "Authorization": f"Bearer {server.token}",
            "X-Company-Id": "1",
            "Content-Type": "application/json",
        },
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_flood_of_writes_is_a_line(home: Home) -> None:
    """A flood of failing writes is one log line.

    The server may write no further than the current end of its write-ahead log. Reads work in between.
    """
    with first_day(home).serving(env=QUIET) as server:
        log_of_changes = home.data / "companies" / "1.db-wal"
        for number in range(20):
            assert post(server, f"BEFORE-{number}") == 201
        hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (log_of_changes.stat().st_size, hard))
        for number in range(100):
            assert post(server, f"DURING-{number}") == 503
            assert server.get("/api/articles?per_page=1")[0] == 200
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        assert post(server, "AFTER") == 201
        told = [line for line in server.log.splitlines() if "company 1" in line]
        assert [line.partition(" error ")[2].strip().partition(" request=")[0] for line in told] == [
            "writes to company 1 fail: disk I/O error",  # the outcome of the first write is unknown
            "writes to company 1 fail: disk I/O error; 2 failures so far",
        ]


def test_a_platform_that_cannot_be_read_is_no_fault_of_a_company(home: Home) -> None:
    with first_day(home).serving(env=QUIET) as server:
        with failing(server.process.pid, "pread64", path=home.data / "platform.db"):
            status, body = server.send("POST", "/api/articles", {"code": "A", "name": "A"})
        assert (status, body["message"]) == (
            503,
            "The server cannot read its own data now; nothing was changed. Tell the platform admin.",
        )
        assert post(server, "AFTER") == 201
        told = [line.partition(" error ")[2].strip() for line in server.log.splitlines() if " error " in line]
        assert [line.partition(" request=")[0] for line in told if "platform.db" in line] == [
            "reads of platform.db fail: database disk image is malformed"
        ]
        assert not [line for line in told if "company 1" in line]


def test_a_log_that_grows_since_its_file_cannot_be_written_is_told(home: Home) -> None:
    """A write-ahead log that grows because its file cannot be written is reported.

    SQLite does not report it, because acknowledged writes are in the log.
    """
    told = (
        f"the write-ahead log of {home.data}/companies/1.db cannot be written back, and keeps growing: "
        "disk I/O error"
    )
    company = home.data / "companies" / "1.db"
    log_of_changes = company.with_name("1.db-wal")
    with first_day(home).serving(env=QUIET) as server:
        assert post(server, "FIRST") == 201
        with failing(server.process.pid, "pwrite64", path=company):
            number = 0
            while log_of_changes.stat().st_size <= LOG_BYTES:
                number += 1
                assert post(server, f"A{number}") == 201
            until = time.monotonic() + LONGEST
            while told not in server.log:
                assert time.monotonic() < until, server.log
                time.sleep(0.1)
        assert post(server, "LAST") == 201
    assert server.log.count(told) == 1


def test_commands_add_nothing_to_a_full_disk(home: Home, small_disk: Path) -> None:
    """Commands add nothing to a full disk, like requests: existing records can be read and moved, and nothing new
    is created.
    """
    home = first_day(Home(home.program, small_disk))
    fill(small_disk, LEAST_REFUSED - 1024**2)
    for command in (
        ("company", "create", "BETA", "--name", "Beta"),
        ("article", "create", "NEW", "--name", "New", "--company", "ACME"),
    ):
        refused = home.run(*command)
        assert (refused.code, refused.out) == (1, "")
        assert f"The disk of the data folder {home.data} is full: " in refused.err
    assert [each["code"] for each in home.ok("company", "list", "--json").json] == ["ACME"]


def test_sites_webhooks_and_imports_taken_back_look_at_the_disk_too(home: Home, small_disk: Path) -> None:
    """Sites, webhooks and undone imports check the disk too.

    Acts that only move data work until the reserve is needed. Acts that lock a user out always work.
    """
    home = first_day(Home(home.program, small_disk))
    home.write("warehouses.csv", "code,name\nMAIN,Main\nYARD,Yard\n")
    home.ok("import", "warehouses", "warehouses.csv", "--company", "ACME")
    home.ok("site", "create", "ACME", "MAIN", "--name", "Planner")
    makes: tuple[str, ...] = ("site", "create", "ACME", "YARD", "--name", "Y")
    undoes: tuple[str, ...] = ("import", "undo", "--company", "ACME", "--yes")
    rotates, revokes = ("site", "rotate", "ACME", "MAIN"), ("site", "revoke", "ACME", "MAIN")
    of_webhook = ("1", "--company", "ACME")
    moves = (
        rotates,
        *(("webhook", act, *of_webhook) for act in ("on", "off", "test")),
        ("webhook", "redeliver", *of_webhook, "--since", "1d"),
    )
    full = f"The disk of the data folder {home.data} is full: "
    fill(small_disk, LEAST_REFUSED - 1024**2)
    for command in (makes, undoes):
        assert full in home.run(*command).err, command
    for command in moves:
        assert full not in home.run(*command).err, command
    fill(small_disk, RESERVE_BYTES - 1024**2)
    for command in (makes, undoes, *moves):
        refused = home.run(*command)
        assert (refused.code, refused.out, full in refused.err) == (1, "", True), command
    assert full not in home.run("webhook", "redeliver", *of_webhook, "--since", "1d", "--dry-run").err
    home.ok(*revokes)
    assert [each["status"] for each in home.ok("site", "list", "--json").json] == ["revoked"]
    (small_disk / "other").unlink()
    assert "is a site of a transport planner" in home.run(*undoes).err
    home.ok(*makes)


@pytest.mark.parametrize("is_served", [True, False])
def test_where_nothing_is_left_commands_still_read_and_delete(
    home: Home, small_disk: Path, is_served: bool
) -> None:
    """On a completely full disk, commands still read and delete.

    Opening a file takes space too, which the reserve provides.
    """
    home = first_day(Home(home.program, small_disk))
    with home.serving(env=QUIET) as server:  # the server creates the reserve
        if not is_served:
            assert server.stop() == 0
        fill(small_disk, 0)
        assert [each["code"] for each in home.ok("company", "list", "--json").json] == ["ACME"]
        assert home.ok("article", "list", "--company", "ACME", "--json").json == []
        deleted = home.ok("company", "delete", "ACME", "--yes", "--json").json
    assert (small_disk / deleted["archive"]).exists()
    assert home.ok("company", "list", "--json").json == []


def test_a_server_that_was_killed_on_a_full_disk_starts_again(home: Home, small_disk: Path) -> None:
    home = first_day(Home(home.program, small_disk))
    with home.serving(env=QUIET) as server:
        assert post(server, "BEFORE") == 201
        fill(small_disk, 0)
        server.kill()
    with home.serving(env=QUIET) as server:
        assert server.get("/api/articles/1")[0] == 200
        assert post(server, "NEW") == 503
        assert server.stop() == 0


def test_where_not_even_the_reserve_is_left_a_start_says_what_may_be_deleted(home: Home, small_disk: Path) -> None:
    home = first_day(Home(home.program, small_disk))
    (home.data / "reserve").unlink(missing_ok=True)
    fill(small_disk, 0)
    refused = home.run("serve", "--listen", "127.0.0.1:0")
    assert (refused.code, refused.out) == (1, "")
    said = refused.err.splitlines()[-1]
    assert said.startswith(
        f"wmsd: The data folder {home.data} cannot be written: the disk is full. Free some space on the"
    )
    for named in ("wmsd.log.1", "replaced-…", "before-…", "the oldest backups", "Never delete", ".db or -wal."):
        assert named in said
    (small_disk / "other").unlink()
    with home.serving(env=QUIET) as server:
        assert server.stop() == 0


def test_no_installation_is_made_on_a_full_disk(home: Home, small_disk: Path) -> None:
    fill(small_disk, LEAST_REFUSED - 1024**2)
    refused = home.run("serve", "--listen", "127.0.0.1:0", "--data", small_disk / "data")
    assert (refused.code, refused.out) == (1, "")
    assert "The disk of the data folder " in refused.err
    assert not (small_disk / "data" / "platform.db").exists()
