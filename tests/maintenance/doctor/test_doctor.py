"""`wmsd doctor`."""

import json
import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from tests.maintenance.doctor.scene import state
from tests.support.command import Tenant, at_a_terminal
from wmsd.db.engine.sqlite import connect
from wmsd.interfaces.cli.maintenance.doctor import ONLY_WARNINGS

HEADER = "code,status,partner_code,warehouse_code,article_code,quantity\n"
ORDERS = HEADER + "A-1,LIVRAT,P1,MAIN,A,3\nA-2,CREAT,P1,MAIN,A,1\n"


def test_the_doctor_finds_nothing_where_everything_is_right(stocked: Tenant) -> None:
    stocked.take("sales-orders", ORDERS)
    done = stocked.home.ok("doctor", "--company", stocked.code)
    assert f"{stocked.code}: no errors; " in done.err
    (found,) = stocked.home.ok("doctor", "--company", stocked.code, "--json").json
    assert (found["company"], found["ok"], found["differences"]) == (stocked.code, True, [])


def test_the_doctor_names_what_differs_and_exits_with_1(stocked: Tenant) -> None:
    stocked.take("sales-orders", ORDERS)
    companies = {row["code"]: row["id"] for row in stocked.home.ok("company", "list", "--json").json}
    file = stocked.home.data / "companies" / f"{companies[stocked.code]}.db"
    connection = connect(file)
    connection.execute("UPDATE stock SET quantity = quantity + 1000000 WHERE id = 1")
    connection.close()
    done = stocked.home.run("doctor", "--company", stocked.code)
    assert done.code == 1
    assert (
        done.out
        == f"{stocked.code}: a stock quantity must equal the sum of its movements; but A in MAIN: 8 instead of 7\n"
    )
    done = stocked.home.run("doctor", "--company", stocked.code, "--json")
    assert (done.code, json.loads(done.out)[0]["differences"][0]["record"]) == (1, "A in MAIN")
    with closing(connect(file)) as connection:  # other tests share the installation
        connection.execute("UPDATE stock SET quantity = quantity - 1000000 WHERE id = 1")


def test_the_doctor_knows_no_such_company(stocked: Tenant) -> None:
    assert stocked.home.refusals("doctor", "--company", "NONE") == ["No company has the code NONE."]


def test_the_platform_is_examined_first(stocked: Tenant) -> None:
    with closing(connect(stocked.home.data / "platform.db")) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("UPDATE companies SET operator_id = 999 WHERE id = 1")
    done = stocked.home.run("doctor")
    with closing(connect(stocked.home.data / "platform.db")) as connection:
        connection.execute("UPDATE companies SET operator_id = NULL WHERE id = 1")
    assert (done.code, done.err.splitlines()[1]) == (1, "platform.db: 1 difference.")
    assert done.out.splitlines()[0] == (
        "platform.db: each reference must point to an existing record; but companies 1: none instead of a "
        "record of "
        "operators"
    )


def test_it_tells_a_terminal_how_far_it_is_and_nobody_else(stocked: Tenant) -> None:
    shown = at_a_terminal(stocked.home, "doctor", "--company", stocked.code)
    assert f"1/1  {stocked.code}" in shown.err
    assert f"{stocked.code}: no errors; " in shown.err
    assert shown.out == ""
    told = stocked.home.ok("doctor", "--company", stocked.code).err.splitlines()
    assert [line.partition(";")[0] for line in told[1:-1]] == [f"{stocked.code}: no errors"]
    assert told[-1].startswith("Examined 1 file (companies: 1), ")


@pytest.fixture
def copied(stocked: Tenant, tmp_path: Path) -> Path:
    """Copy the data folder, like a backup by hand."""
    copy = tmp_path / "copy"
    shutil.copytree(stocked.home.data, copy, ignore=shutil.ignore_patterns("*.lock", "*.socket"))
    return copy


def test_it_writes_nothing_into_a_copy_with_and_without_logs(stocked: Tenant, copied: Path) -> None:
    for path in (copied, *copied.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = state(copied)
    done = stocked.home.run("doctor", "--data", copied)
    assert done.code in (0, ONLY_WARNINGS), (done.out, done.err)
    assert f"{stocked.code}: no errors; " in done.err
    assert "Examined " in done.err
    assert state(copied) == before
    for path in (copied, *copied.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o600)
    with closing(connect(copied / "platform.db")) as held:
        held.execute("UPDATE installation SET id = id")  # the change is only in the write-ahead log
        shutil.copytree(copied, copied.with_name("with log"), ignore=shutil.ignore_patterns("*-shm"))
    assert (copied.with_name("with log") / "platform.db-wal").stat().st_size
    before = state(copied.with_name("with log"))
    done = stocked.home.run("doctor", "--data", copied.with_name("with log"))
    assert (done.code in (0, ONLY_WARNINGS), state(copied.with_name("with log"))) == (True, before)


def test_a_missing_platform_beside_the_files_of_companies(stocked: Tenant, copied: Path) -> None:
    (copied / "platform.db").unlink()
    done = stocked.home.run("doctor", "--data", copied)
    assert done.code == 1
    assert f"Error: {copied}/platform.db is missing, but there are files of companies: " in done.out
    assert not (copied / "platform.db").exists()
    entry = json.loads(stocked.home.run("doctor", "--data", copied, "--json").out)[-1]
    assert (entry["ok"], entry["installation"][0]["check"]) == (False, "platform-missing")


def test_fix_says_what_it_does_before_and_after(stocked: Tenant, copied: Path) -> None:
    left = copied / "backup.json.new"
    left.write_bytes(b"x")
    os.utime(left, (0, 0))
    done = stocked.home.run("doctor", "--data", copied, "--fix", "--dry-run")
    assert f"Would be fixed: Delete {left}.\n" in done.out
    assert (done.out + done.err).count("Delete") == 1
    assert left.exists()
    assert done.code == ONLY_WARNINGS
    done = stocked.home.run("doctor", "--data", copied, "--fix")
    assert f"Fix: Delete {left}.\nDone.\n" in done.err
    assert not left.exists()
    assert "backup.json.new" not in done.out
    found = json.loads(stocked.home.run("audit", "--data", copied, "--what", "doctor", "--json").out)
    assert [(each["action"], each["details"]["fixed"]["after"]) for each in found] == [
        ("doctor.fix", [f"Delete {left}."])
    ]


def test_a_folder_of_archives_leads_to_the_command_for_them(stocked: Tenant, tmp_path: Path) -> None:
    (tmp_path / "wmsd-2026-11-20T020000Z.tar.gz").write_bytes(b"x")
    done = stocked.home.run("doctor", "--data", tmp_path)
    assert done.code == 1
    assert done.wrong == [
        f"{tmp_path} has backups, but no data. To verify a backup: wmsd backup verify --data {tmp_path} FILE"
    ]
