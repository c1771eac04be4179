"""`wmsd company rename`, `delete`, and `change --operator`. An interrupted deletion loses nothing."""

import json
import re
import shlex
import subprocess
import sys
import tarfile
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.cli.test_people import make
from tests.support.command import EMAIL, Home, at_a_terminal, first_day, hashes
from tests.support.forked import LONGEST, Program
from wmsd.db.engine.sqlite import sqlite3

STEPS = ("close", "leaving", "archive", "end", "remove_files")
KILLED = """
import functools, inspect, os, sys
from wmsd.maintenance.company_moves import delete as deleting
step, when = sys.argv.pop(1), sys.argv.pop(1)
owner = deleting.Deletion if hasattr(deleting.Deletion, step) else deleting
done = getattr(owner, step)
def exits(*given):
    if when == "before":
        os._exit(9)
    result = done(*given)
    if not inspect.isawaitable(result):
        os._exit(9)
    async def wait():
        await result
        os._exit(9)
    return wait()
setattr(owner, step, exits)
from wmsd.interfaces.cli.main import main
main()
"""
DELETE = ("company", "delete", "GONE", "--yes")


@pytest.fixture(scope="module")
def made(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Create a home with the companies ACME and GONE; GONE has an article. Each test starts with a copy of the
    home.
    """
    home = first_day(Home(program, tmp_path_factory.mktemp("made")))
    home.ok("company", "create", "GONE", "--name", "Gone Ltd", "--all-modules")
    home.ok("import", "articles", "-", "--company", "GONE", stdin="code,name\nA,Alpha\n")
    make(home, "member@example.com", "--role", "member", "--company", "GONE", "--company", "ACME")
    make(home, "only@example.com", "--role", "member", "--company", "GONE")
    return home


@pytest.fixture
def home(home: Home, made: Home) -> Home:
    return home.begin_as(made)


def platform(home: Home, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(home.data / "platform.db")) as connection:
        return list(connection.execute(sql, parameters))


def codes(home: Home) -> list[str]:
    return [each["code"] for each in home.ok("company", "list", "--json").json]


def archives(home: Home) -> list[Path]:
    return sorted((home.folder / "data-backups" / "archive").glob("company-*.tar.gz"))


def articles_of(home: Home, code: str) -> str:
    return home.ok("export", "articles", "--company", code).out


def assert_gone(home: Home) -> None:
    assert codes(home) == ["ACME"]
    assert not list(home.data.glob("companies/2.db*"))
    for table in ("company_modules", "user_companies", "high_water_marks", "sites", "request_counts"):
        assert platform(home, f"SELECT count(*) FROM {table} WHERE company_id = 2") == [(0,)]
    assert platform(home, "PRAGMA foreign_key_check") == []


def test_a_company_is_deleted_and_comes_back_from_its_archive(home: Home) -> None:
    before = articles_of(home, "GONE")
    done = home.ok(*DELETE, "--json")
    (archive,) = archives(home)
    users = ["member@example.com", "only@example.com"]
    assert done.json == {"deleted": "GONE", "archive": str(archive), "users": users, "tokens_revoked": 0}
    assert "Users who no longer have access to GONE: member@example.com, only@example.com." in done.err
    assert_gone(home)
    assert archive.stat().st_mode & 0o077 == 0
    with tarfile.open(archive, ignore_zeros=True) as tar:
        names = tar.getnames()
        rows = json.load(tar.extractfile("platform.json") or pytest.fail("platform.json"))
    assert names == ["companies/2.db", "platform.json", "manifest.json"]
    assert (rows["company"]["name"], [each["email"] for each in rows["users"]]) == (
        "Gone Ltd",
        ["member@example.com", "only@example.com"],
    )
    assert "password" not in json.dumps(rows)
    home.ok("doctor")
    actions = [action for (action,) in platform(home, "SELECT action FROM audit WHERE subject = 'GONE'")]
    assert actions[-2:] == ["company.delete begun", "company.delete"]
    lines = home.ok("audit", "--what", "user.change", "--json").json
    assert [(each["action"], each["subject"], each["details"]) for each in lines] == [
        ("user.change by company.delete GONE", email, {"company_codes": {"before": before, "after": after}})
        for email, before, after in (
            ("member@example.com", ["ACME", "GONE"], ["ACME"]),
            ("only@example.com", ["GONE"], []),
        )
    ]
    home.ok("user", "delete", "only@example.com", "--yes")
    back = home.ok("company", "import", archive, "--json")
    assert back.json["id"] == 3
    assert [line for line in back.err.splitlines() if "--add-company" in line] == [
        "  wmsd user change member@example.com --add-company GONE"
    ]
    home.ok("user", "change", "member@example.com", "--add-company", "GONE")
    assert home.refused("company", "import", archive) == (
        "The company GONE already exists. Give another code with --code. Nothing was changed."
    )
    other = home.ok("company", "import", archive, "--code", "GONE-2").err
    assert "  wmsd user change member@example.com --add-company GONE-2" in other.splitlines()
    line, again = home.ok("audit", "--what", "company.import", "--json").json
    assert again["subject"] == "GONE-2"
    details = {name: each["after"] for name, each in line["details"].items()}
    assert (line["subject"], details.pop("origin").endswith("/2")) == ("GONE", True)
    assert details == {"file": archive.name, "id": 3}
    assert articles_of(home, "GONE") == before
    assert home.refused("company", "delete", "NOBODY", "--yes") == "There is no such company as NOBODY."


def test_the_command_that_brings_it_back_works_wherever_it_is_typed(home: Home, tmp_path: Path) -> None:
    to = ("--archive-folder", "my archives", "--data", "data")
    told = home.ok(*DELETE, *to).err
    (command,) = re.findall(r"To bring the company back, with a new id: wmsd (company import .*)", told)
    (archive,) = (home.folder / "my archives").glob("company-*.tar.gz")
    assert f"The data of the company is now only in {shlex.quote(str(archive))} and in older backups." in told
    (proven,) = re.findall(
        r"`wmsd (.*)` imports the company again\.", home.ok("backup", "verify", archive, *to[2:]).err
    )
    assert proven == command
    (tmp_path / "far").mkdir()
    done = Home(home.program, tmp_path / "far").run(*shlex.split(command))
    assert (done.code, done.wrong) == (0, [])
    assert codes(home) == ["ACME", "GONE"]


def test_what_comes_back_has_the_operator_that_it_had(home: Home) -> None:
    home.ok("operator", "create", "OP2", "--name", "Two")
    home.ok("operator", "create", "OP3", "--name", "Three")
    home.ok("company", "change", "GONE", "--operator", "OP2")
    home.ok(*DELETE)
    (archive,) = archives(home)
    assert ("The operator of the company is OP2, as before.") in home.ok(
        "company", "import", archive
    ).err.splitlines()
    assert home.ok("company", "show", "GONE", "--json").json["operator"] == "OP2"
    other = home.ok("company", "import", archive, "--code", "GONE-3", "--operator", "OP3").err
    assert home.ok("company", "show", "GONE-3", "--json").json["operator"] == "OP3"
    assert "OP2" not in other


def test_its_code_has_to_be_typed(home: Home) -> None:
    before = hashes(home.data)
    refused = home.run("company", "delete", "GONE", stdin="GNOE\n")
    assert refused.code == 1
    assert "The typed code is not the code of the company. Nothing was changed." in refused.err
    assert (
        f"wmsd first writes GONE (Gone Ltd) to an archive in {home.folder / 'data-backups' / 'archive'},"
        in refused.err
    )
    sentence = "There is no such company as gone. Did you mean GONE?"
    assert home.refused("company", "delete", "gone") == sentence
    assert home.run("company", "delete", "GONE").code == 1
    assert hashes(home.data) == before
    assert home.run("company", "delete", "GONE", stdin="GONE\n").code == 0
    assert_gone(home)


def test_who_leaves_a_question_is_told_that_nothing_was_changed(home: Home) -> None:
    end_of_input = "\x04"
    for command in (("company", "delete", "GONE"), ("user", "set-password", "only@example.com")):
        left = at_a_terminal(home, *command, answers=[end_of_input])
        assert left.code == 1
        assert "wmsd: Interrupted: nothing was changed." in left.err
        assert "Abort" not in left.err
    assert codes(home) == ["ACME", "GONE"]


def test_a_running_server_stops_serving_it(home: Home) -> None:
    create = ("token", "create", "--ability", "stock:read", "--ability", "articles:read", "--user")
    only = home.ok(*create, EMAIL, "--company", "GONE").out.strip()
    both = home.ok(*create, EMAIL, "--company", "GONE", "--company", "ACME").out.strip()
    with home.serving() as server:
        for token in (only, both, None):
            assert server.get("/api/articles", token, company=2)[0] == 200
        assert home.ok(*DELETE, "--json").json["tokens_revoked"] == 1
        (line,) = home.ok("audit", "--what", "company.delete", "--json").json[-1:]
        assert line["details"]["tokens_revoked"] == {"before": 0, "after": 1}
        server.soon("/api/articles", lambda status, _: status == 401, token=only, company=2)
        server.soon("/api/articles", lambda _, body: body.get("code") == "COMPANY_REQUIRED", token=both, company=2)
        server.soon("/api/articles", lambda _, body: body.get("code") == "COMPANY_REQUIRED", company=2)
        assert server.get("/api/articles", both, company=1)[0] == 200
        _, listed = server.get("/api/companies", both, company=None)
        assert [each["code"] for each in listed["data"]] == ["ACME"]
        assert not list(home.data.glob("companies/2.db*"))
        assert home.ok("company", "import", archives(home)[0], "--json").json["id"] == 3
        server.soon("/api/articles", lambda status, body: status == 200 and len(body["data"]) == 1, company=3)
        assert "removed or replaced" not in server.log
    assert platform(home, "SELECT id FROM companies") == [(1,), (3,)]


def test_what_is_answered_during_the_deletion_is_in_the_archive(home: Home) -> None:
    """A writer creates articles during the deletion. Each article that was answered with 201 is in the restored
    company.
    """
    made: list[str] = []
    is_over = threading.Event()
    with home.serving() as server:

        def create() -> None:
            number = 0
            while not is_over.is_set():
                code = f"N{(number := number + 1)}"
                status, _ = server.send("POST", "/api/articles", {"code": code, "name": code}, company=2)
                if status == 201:
                    made.append(code)

        thread = threading.Thread(target=create)
        thread.start()
        try:
            until = time.monotonic() + LONGEST
            while len(made) < 20 and time.monotonic() < until:
                time.sleep(0.01)
            home.ok(*DELETE)
        finally:
            is_over.set()
            thread.join()
    assert len(made) >= 20
    home.ok("company", "import", archives(home)[0])
    kept = {line.split(",")[0] for line in articles_of(home, "GONE").splitlines()}
    assert set(made) <= kept


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a server"])
def test_a_deletion_that_is_killed_loses_nothing_and_goes_on(
    home: Home, step: str, when: str, beside: bool
) -> None:
    before = articles_of(home, "GONE")

    def killed_and_again() -> None:
        command = [sys.executable, "-P", "-c", KILLED, step, when, *DELETE]
        killed = subprocess.run(command, cwd=home.folder, env=home.clean(), capture_output=True, timeout=LONGEST)
        assert killed.returncode == 9, killed.stderr.decode()
        assert "GONE" not in codes(home)
        assert archives(home) or (home.data / "companies" / "2.db").exists()
        if (step, when) != ("remove_files", "after"):
            home.ok(*DELETE)

    if beside:
        with home.serving() as server:
            killed_and_again()
            assert server.get("/api/articles", company=1)[0] == 200
            server.soon("/api/articles", lambda _, body: body.get("code") == "COMPANY_REQUIRED", company=2)
            assert "Traceback" not in server.log
    else:
        killed_and_again()
    assert_gone(home)
    home.ok("company", "import", archives(home)[-1])
    assert articles_of(home, "GONE") == before


def test_a_deletion_without_room_for_the_archive_deletes_nothing(home: Home) -> None:
    home.write("data-backups", "a file in place of the folder")
    refused = home.refused(*DELETE)
    assert refused.startswith(f"The backup folder {home.data}-backups/archive cannot be written")
    assert codes(home) == ["ACME", "GONE"]
    with home.serving() as server:
        assert server.get("/api/articles", company=2)[0] == 200


def test_a_deletion_that_fails_midway_serves_the_company_again(home: Home) -> None:
    (home.data / "companies" / "2.db").rename(home.folder / "kept.db")
    assert "is missing" in home.refused(*DELETE)
    (home.folder / "kept.db").rename(home.data / "companies" / "2.db")
    assert codes(home) == ["ACME", "GONE"]
    assert "Alpha" in articles_of(home, "GONE")
    actions = [action for (action,) in platform(home, "SELECT action FROM audit WHERE subject = 'GONE'")]
    assert actions[-2:] == ["company.delete begun", "company.delete given up"]


def test_a_file_that_somebody_uses_is_not_deleted(home: Home) -> None:
    with closing(sqlite3.connect(home.data / "companies" / "2.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "Another program is using" in home.refused(*DELETE)
    assert codes(home) == ["ACME", "GONE"]


def test_two_deletions_at_once(home: Home) -> None:
    nowhere = subprocess.DEVNULL
    processes = [home.start(*DELETE, stdout=nowhere, stderr=nowhere) for _ in range(2)]
    assert sorted(process.wait(LONGEST) for process in processes) == [0, 1]
    assert_gone(home)
    assert len(archives(home)) == 1


def test_the_code_of_a_deleted_company_can_be_given_again(home: Home) -> None:
    home.ok(*DELETE)
    assert home.ok("company", "create", "GONE", "--name", "New", "--all-modules", "--json").json["id"] == 3
    assert articles_of(home, "GONE").count("\n") == 1
    home.ok(*DELETE)
    assert len(archives(home)) == 2
    assert codes(home) == ["ACME"]


def test_a_company_is_renamed(home: Home) -> None:
    with home.serving() as server:
        assert "GONE is now called KEPT." in home.ok("company", "rename", "GONE", "KEPT").err
        assert server.get("/api/articles", company=2)[0] == 200
        assert "Alpha" in articles_of(home, "KEPT")
        _, listed = server.get("/api/companies", company=None)
        assert [each["code"] for each in listed["data"]] == ["ACME", "KEPT"]
    sql = "SELECT details FROM audit WHERE action = 'company.rename' AND subject = 'GONE'"
    assert platform(home, sql) == [('{"code":{"before":"GONE","after":"KEPT"}}',)]
    assert home.refused("company", "rename", "KEPT", "ACME") == "NEW_CODE ACME is taken by another company."
    assert home.refused("company", "rename", "KEPT", "") == "NEW_CODE must have at least 1 character."
    assert home.refused("company", "rename", "GONE", "X") == "There is no such company as GONE."
    home.ok("company", "rename", "KEPT", "KEPT")


def test_the_operator_of_a_company_is_changed(home: Home) -> None:
    def operator() -> object:
        return home.ok("company", "show", "GONE", "--json").json["operator"]

    home.ok("operator", "create", "OPS", "--name", "Ops")
    home.ok("company", "change", "GONE", "--operator", "OPS")
    assert operator() == "OPS"
    home.ok("company", "change", "GONE", "--name", "Other")
    assert operator() == "OPS"
    refused = home.refused("company", "change", "GONE", "--name", "Not", "--operator", "NONE")
    assert refused == "--operator NONE is not an operator of this installation."
    nearest = "is not an operator of this installation; OPS is the nearest code."
    assert home.refused("company", "change", "GONE", "--operator", "ops") == f"--operator ops {nearest}"
    assert home.refused("company", "create", "N", "--name", "N", "--operator", "OP") == f"--operator OP {nearest}"
    assert home.refused("operator", "change", "ops", "--name", "N") == (
        "There is no such operator as ops. Did you mean OPS?"
    )
    assert home.ok("company", "show", "GONE", "--json").json["name"] == "Other"
    home.ok("company", "change", "GONE", "--no-operator")
    assert operator() is None
    assert "not both" in home.misunderstood("company", "change", "GONE", "--operator", "OPS", "--no-operator")
    sql = "SELECT details FROM audit WHERE action = 'company.change' AND subject = 'GONE' ORDER BY id LIMIT 1"
    assert platform(home, sql) == [('{"operator_code":{"before":null,"after":"OPS"}}',)]
