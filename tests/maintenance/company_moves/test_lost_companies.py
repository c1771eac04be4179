"""`wmsd company delete --without-archive`: the deletion of a company whose file is damaged or missing."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.maintenance.company_moves.test_deleted_companies import KILLED, assert_gone, codes, home, made
from tests.support.command import Home, hashes
from tests.support.forked import LONGEST

__all__ = ["home", "made"]
LOSE = ("company", "delete", "GONE", "--without-archive")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def overwritten(path: Path) -> None:
    path.write_bytes(b"not a database\n" * 4000)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "cut": cut,
    "no database": overwritten,
    "empty": lambda path: path.write_bytes(b""),
    "whole": lambda path: None,
}


def company_file(home: Home) -> Path:
    return home.data / "companies" / "2.db"


def audited(home: Home) -> list[tuple[str, Any]]:
    found = home.ok("audit", "--subject", "GONE", "--what", "company.delete", "--json").json
    return [(each["action"], each["details"]) for each in found]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a server"])
def test_it_is_deleted_and_its_file_is_kept(home: Home, damage: str, beside: bool) -> None:
    path = company_file(home)
    DAMAGES[damage](path)
    content = path.read_bytes() if path.exists() else None
    if beside:
        with home.serving() as server:
            done = home.ok(*LOSE, "--json", stdin="GONE\n")
            assert server.get("/api/articles", company=1)[0] == 200
            server.soon("/api/articles", lambda _, body: body.get("code") == "COMPANY_REQUIRED", company=2)
            assert "Traceback" not in server.log
    else:
        done = home.ok(*LOSE, "--json", stdin="GONE\n")
    folder = home.folder / done.json["folder"]
    assert done.json == {
        "deleted": "GONE",
        "archive": None,
        "folder": done.json["folder"],
        "tokens_revoked": 0,
        "users": ["member@example.com", "only@example.com"],
    }
    assert_gone(home)
    kept = folder / "2.db"
    assert kept.exists() == (content is not None)
    if damage in ("cut", "no database", "empty"):
        assert kept.read_bytes() == content
    rows = json.loads((folder / "platform.json").read_text(encoding="utf-8"))
    assert (rows["company"]["name"], len(rows["users"])) == ("Gone Ltd", 2)
    assert folder.stat().st_mode & 0o077 == 0
    assert [action for action, _ in audited(home)] == ["company.delete begun", "company.delete without archive"]
    assert audited(home)[-1][1]["folder"] == {"before": None, "after": done.json["folder"]}
    home.ok("doctor")


def test_what_is_lost_is_said_and_the_code_has_to_be_typed(home: Home) -> None:
    cut(company_file(home))
    before = hashes(home.data)
    refused = home.run(*LOSE, stdin="GNOE\n")
    assert refused.code == 1
    assert "The typed code is not the code of the company. Nothing was changed." in refused.err
    assert "GONE (Gone Ltd) will be deleted without an archive.\nYou lose the articles, " in refused.err
    assert "2.db unchanged, in a separate folder.\n" in refused.err
    assert home.run(*LOSE).code == 1
    for more in (("--yes",), ("--archive-folder", "x")):
        assert "Do not combine --without-archive with --yes" in home.misunderstood(*LOSE, *more)
    assert hashes(home.data) == before
    assert home.refused("company", "delete", "NIX", "--without-archive").endswith(
        "There is no such company as NIX."
    )


def test_a_file_that_is_missing_is_said_to_be(home: Home) -> None:
    company_file(home).unlink()
    assert "2.db is missing, so no file is kept.\n" in home.run(*LOSE, stdin="no\n").err


@pytest.mark.parametrize("damage", ["missing", "cut", "no database"])
def test_a_deletion_that_cannot_write_its_archive_leads_here(home: Home, damage: str) -> None:
    DAMAGES[damage](company_file(home))
    said = home.refused("company", "delete", "GONE", "--yes")
    assert said.startswith(f"{home.data}/companies/2.db is {'missing. ' if damage == 'missing' else 'damaged ('}")
    assert said.endswith("delete the company with --without-archive, which first says what is lost.")
    assert codes(home) == ["ACME", "GONE"]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", ["close_as_it_is", "rows", "end", "remove_files"])
def test_one_that_is_killed_loses_no_file_and_goes_on(home: Home, step: str, when: str) -> None:
    path = company_file(home)
    cut(path)
    content = path.read_bytes()
    command = [sys.executable, "-P", "-c", KILLED, step, when, *LOSE]
    killed = subprocess.run(
        command, cwd=home.folder, env=home.clean(), input=b"GONE\n", capture_output=True, timeout=LONGEST
    )
    assert killed.returncode == 9, killed.stderr.decode()
    assert "GONE" not in codes(home)
    if step != "remove_files" and (step, when) != ("end", "after"):
        home.ok(*LOSE, stdin="GONE\n")
    assert_gone(home)
    assert [each.read_bytes() for each in home.data.glob("deleted-2-*/2.db")] == [content]
    assert audited(home)[-1][0] == "company.delete without archive"


def test_a_failure_puts_the_file_back(home: Home) -> None:
    """The last step in the platform's file fails."""
    path = company_file(home)
    content = path.read_bytes()
    fails = (
        "import sys\nfrom wmsd.maintenance.company_moves import deletion_store as company_deletion\n"
        "def fail(*given):\n    raise OSError(5, 'Input/output error')\n"
        "company_deletion.end = fail\nfrom wmsd.interfaces.cli.main import main\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", fails, *LOSE],
        cwd=home.folder, env=home.clean(), input=b"GONE\n", capture_output=True, timeout=LONGEST,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr.decode()
    assert codes(home) == ["ACME", "GONE"]
    assert path.read_bytes() == content
    assert audited(home)[-1][0] == "company.delete given up"
    home.ok("export", "articles", "--company", "GONE")
