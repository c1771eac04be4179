"""`wmsd backup restore --only-platform`: platform.db is lost, and the companies' files are intact."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.backups import RECOVERY_WORDS, UNLIMITED, add_article, articles, back_up, is_right, restore, sql
from tests.support.command import EMAIL, Home, at_a_terminal, first_day, hashes, made_on_first_day
from wmsd.maintenance.platform_restore.platform_numbers import LEAST_LEAP


@pytest.fixture
def installation(home: Home) -> Home:
    return first_day(home)


def sealed_backup(home: Home) -> tuple[Path, Path]:
    """Make a backup with the keys, and return the archive and the file of its passphrase."""
    words = home.write("words", f"{RECOVERY_WORDS}\n")
    words.chmod(0o600)
    return back_up(home, "--passphrase-file", words), words


def only_platform(home: Home, archive: Path, *options: str | Path) -> dict[str, Any]:
    return restore(home, archive, "--only-platform", *options)


def lose(home: Home) -> None:
    for path in home.data.glob("platform.db*"):
        path.unlink()


def spoil(home: Home) -> None:
    (home.data / "platform.db").write_bytes(b"not a database\n" * 300)


def of_companies(home: Home) -> dict[str, str]:
    return {name: each for name, each in hashes(home.data).items() if name.startswith("companies/")}


def companies_of(home: Home) -> dict[str, dict[str, Any]]:
    return {row["code"]: row for row in home.ok("company", "list", "--json").json}


@pytest.mark.parametrize("breaks", [lose, spoil])
def test_the_companies_keep_what_came_after_the_backup(installation: Home, breaks: Callable[[Home], None]) -> None:
    archive, words = sealed_backup(installation)
    with installation.serving(env=UNLIMITED) as server:
        add_article(server, "LATER")
    files = of_companies(installation)
    breaks(installation)
    said = only_platform(installation, archive, "--passphrase-file", words)
    assert (said["only"], said["keys"], said["adopted"], said["deleted"]) == ("platform.db", "backup", [], [])
    assert of_companies(installation) == files
    assert is_right(installation)
    with installation.serving() as server:
        assert articles(server) == ["LATER"]


def test_what_was_replaced_is_kept(installation: Home) -> None:
    archive = back_up(installation)
    spoil(installation)
    before = (installation.data / "platform.db").read_bytes()
    replaced = installation.folder / only_platform(installation, archive)["replaced"]
    assert [str(path.relative_to(replaced)) for path in replaced.rglob("*")] == ["platform.db"]
    assert (replaced / "platform.db").read_bytes() == before


def test_a_company_that_was_created_after_the_backup_is_served_from_its_own_file(installation: Home) -> None:
    archive, words = sealed_backup(installation)
    installation.ok("company", "create", "LATER", "--name", "The later one", "--all-modules")
    installation.write("articles.csv", "code,name\nP,Pear\n")
    installation.ok("import", "articles", "articles.csv", "--company", "LATER")
    lose(installation)
    done = installation.ok("backup", "restore", archive, "--only-platform", "--passphrase-file", words)
    assert (
        "LATER (id 2) was created after the backup, and is served again from its own file. The file does not"
        in (done.err)
    )
    found = companies_of(installation)["LATER"]
    assert (found["id"], found["name"], found["sandbox"]) == (2, "LATER", False)
    assert set(found["modules"]) == {"api", "articles"}
    assert installation.ok("article", "list", "--company", "LATER", "--json").json[0]["code"] == "P"
    assert "company.adopt" in installation.ok("audit").out
    assert is_right(installation)


def test_what_a_readable_platform_still_tells_of_a_later_company_is_used(installation: Home) -> None:
    archive = back_up(installation)
    options = ("--name", "The later one", "--sandbox", "--module", "stock")
    installation.ok("company", "create", "LATER", *options)
    done = installation.ok("backup", "restore", archive, "--only-platform", "--yes")
    assert "Its name and settings come from the replaced platform.db." in done.err
    found = companies_of(installation)["LATER"]
    assert (found["id"], found["name"], found["sandbox"]) == (2, "The later one", True)
    assert set(found["modules"]) == {"api", "stock"}


def test_no_id_is_given_twice(installation: Home) -> None:
    archive = back_up(installation)
    platform = installation.data / "platform.db"
    installation.ok("company", "create", "LATER", "--name", "Later", "--all-modules")
    installation.ok("company", "delete", "LATER", "--yes")  # only its archive shows that the id was used
    installation.ok("user", "create", "late@example.com", "--role", "member", "--company", "ACME", "--link")
    [[users]] = sql(platform, "SELECT max(id) FROM users")
    [[tokens]] = sql(platform, "SELECT seq FROM sqlite_sequence WHERE name = 'tokens'")
    lose(installation)
    only_platform(installation, archive)
    installation.ok("company", "create", "NEXT", "--name", "Next", "--all-modules")
    installation.ok("user", "create", "next@example.com", "--role", "member", "--company", "ACME", "--link")
    installation.ok("token", "create", "--user", EMAIL, "--ability", "*")
    assert companies_of(installation)["NEXT"]["id"] > LEAST_LEAP
    assert sql(platform, "SELECT max(id) FROM users")[0][0] >= users + LEAST_LEAP - 1
    assert sql(platform, "SELECT max(id) FROM tokens")[0][0] >= tokens + LEAST_LEAP


def test_ids_go_on_exactly_where_the_replaced_file_can_be_read(installation: Home) -> None:
    archive = back_up(installation)
    installation.ok("company", "create", "LATER", "--name", "Later", "--all-modules")
    only_platform(installation, archive)
    installation.ok("company", "create", "NEXT", "--name", "Next", "--all-modules")
    assert companies_of(installation)["NEXT"]["id"] == 3


def test_the_remains_of_a_restore_show_ids_too(installation: Home) -> None:
    archive = back_up(installation)
    remains = installation.data / "replaced-2026-01-01T000000Z" / "companies"
    remains.mkdir(parents=True)
    shutil.copy(installation.data / "companies" / "1.db", remains / "70001.db")
    lose(installation)
    only_platform(installation, archive)
    installation.ok("company", "create", "NEXT", "--name", "Next", "--all-modules")
    assert companies_of(installation)["NEXT"]["id"] == 70_002


def test_a_company_that_was_deleted_after_the_backup_does_not_come_back(installation: Home) -> None:
    installation.ok("company", "create", "GONE", "--name", "Gone", "--all-modules")
    archive, words = sealed_backup(installation)
    installation.ok("company", "delete", "GONE", "--yes")
    lose(installation)
    done = installation.ok("backup", "restore", archive, "--only-platform", "--passphrase-file", words)
    assert "Deleted after the backup, and still deleted: GONE." in done.err
    assert set(companies_of(installation)) == {"ACME"}
    assert is_right(installation)
    with installation.serving() as server:
        assert server.get("/api/articles", company=2)[0] == 422
        assert server.get("/api/health")[1]["checks"]["database"]["ok"]


@pytest.mark.parametrize("is_lost", [True, False])
def test_what_a_deletion_that_was_cut_off_has_left_is_no_company(installation: Home, is_lost: bool) -> None:
    """The backup or the replaced file knows that the deletion was finished."""
    installation.ok("company", "create", "GONE", "--name", "Gone", "--all-modules")
    file = installation.data / "companies" / "2.db"
    content = file.read_bytes()
    before = back_up(installation, "before.tar.gz")
    installation.ok("company", "delete", "GONE", "--yes")
    archive = back_up(installation, "after.tar.gz") if is_lost else before
    file.write_bytes(content)
    if is_lost:
        lose(installation)
    said = only_platform(installation, archive)
    assert (said["adopted"], set(companies_of(installation))) == ([], {"ACME"})
    assert file.read_bytes() == content


def test_a_missing_file_without_a_deletion_is_told_with_both_ways(installation: Home) -> None:
    installation.ok("company", "create", "LOST", "--name", "Lost", "--all-modules")
    archive = back_up(installation)
    lose(installation)
    (installation.data / "companies" / "2.db").unlink()
    done = installation.ok("backup", "restore", archive, "--only-platform")
    told = " ".join(done.err.split())
    assert f"To restore the company: wmsd backup restore {archive} --company LOST If the company" not in told
    assert "The file of LOST is missing, but wmsd has no record that LOST was deleted." in told
    assert "If the company was deleted: wmsd company delete LOST --without-archive" in told
    [command] = re.findall(r"To restore the company: wmsd (backup restore \S+ --company LOST)", told)
    installation.ok(*command.split())
    assert is_right(installation)


def test_a_newer_company_of_the_same_code_shows_that_the_older_one_is_gone(installation: Home) -> None:
    installation.ok("company", "create", "AGAIN", "--name", "First", "--all-modules")
    archive = back_up(installation)
    installation.ok("company", "delete", "AGAIN", "--yes")
    shutil.rmtree(installation.folder / "data-backups" / "archive")
    installation.ok("company", "create", "AGAIN", "--name", "Second", "--all-modules")
    lose(installation)
    said = only_platform(installation, archive)
    assert (said["adopted"], said["deleted"], said["without_file"]) == (["AGAIN"], ["AGAIN"], [])
    assert companies_of(installation)["AGAIN"]["id"] == 3


def test_a_file_that_does_not_say_whose_it_is_is_left(installation: Home, tmp_path: Path) -> None:
    archive = back_up(installation)
    (tmp_path / "other").mkdir()
    other = made_on_first_day(Home(installation.program, tmp_path / "other"))
    for number, content in ((7, (other.data / "companies" / "1.db").read_bytes()), (8, b"noise\n" * 999)):
        (installation.data / "companies" / f"{number}.db").write_bytes(content)
    files = of_companies(installation)
    lose(installation)
    said = only_platform(installation, archive)
    assert said["not_adopted"] == ["companies/7.db", "companies/8.db"]
    assert of_companies(installation) == files
    assert set(companies_of(installation)) == {"ACME"}


def test_marks_that_are_older_than_the_files_are_no_fault(installation: Home) -> None:
    with installation.serving(env=UNLIMITED) as server:
        add_article(server, "ONE")
    archive = back_up(installation)
    with installation.serving(env=UNLIMITED) as server:
        add_article(server, "TWO")
    lose(installation)
    said = only_platform(installation, archive)
    assert said["keys"] == "anew"
    assert is_right(installation)
    with installation.serving() as server:
        token = installation.ok("token", "create", "--user", EMAIL, "--ability", "*").out.strip()
        found = server.get("/api/articles", token=token)[1]["data"]
        assert {each["code"] for each in found} == {"ONE", "TWO"}
        assert "is older than its last known state" not in server.log


def test_tokens_that_were_revoked_stay_so_where_the_replaced_file_says_it(installation: Home) -> None:
    archive = back_up(installation)
    [[number]] = sql(installation.data / "platform.db", "SELECT id FROM tokens")
    installation.ok("token", "revoke", str(number))
    done = installation.ok("backup", "restore", archive, "--only-platform", "--yes")
    assert "1 token that was revoked or disabled after the backup stays revoked or disabled." in done.err
    with installation.serving() as server:
        assert server.get("/api/articles")[0] == 401


def test_it_is_refused_beside_a_server_of_another_installation_and_without_files(
    installation: Home, tmp_path: Path
) -> None:
    archive = back_up(installation)
    with installation.serving():
        assert "Stop that wmsd first" in installation.refused("backup", "restore", archive, "--only-platform")
    (tmp_path / "other").mkdir()
    other = made_on_first_day(Home(installation.program, tmp_path / "other"))
    lose(other)
    before = hashes(other.data)
    assert "of another installation" in other.refused("backup", "restore", archive, "--only-platform")
    shutil.rmtree(other.data / "companies")
    sentence = other.refused("backup", "restore", archive, "--only-platform")
    assert sentence.endswith("Restore everything: leave out --only-platform.")
    assert {name: each for name, each in hashes(other.data).items() if name.endswith(".db")} == {}
    assert before
    done = installation.run("backup", "restore", archive, "--only-platform", "--company", "ACME")
    assert (done.code, "either --company or --only-platform" in done.err) == (2, True)


def test_at_a_terminal_it_asks(installation: Home) -> None:
    archive = back_up(installation)
    before = hashes(installation.data)
    done = at_a_terminal(installation, "backup", "restore", archive, "--only-platform", answers=["n"])
    assert (done.code, "The companies' files stay as they are." in " ".join(done.err.split())) == (1, True)
    assert hashes(installation.data) == before


def test_the_command_that_is_offered_leaves_the_companies_as_they_are(installation: Home) -> None:
    """Every message that suggests the next step suggests the same command, and the command works unchanged."""
    archive = back_up(installation)
    with installation.serving(env=UNLIMITED) as server:
        add_article(server, "LATER")
    files = of_companies(installation)
    command = f"wmsd backup restore {archive} --only-platform"
    lose(installation)
    for words in (("serve",), ("company", "list"), ("status",)):
        told = " ".join(installation.run(*words, env={"WMSD_SERVER_LISTEN": "127.0.0.1:0"}).err.split())
        assert command in told, (words, told)
    assert command in installation.run("doctor").out
    spoil(installation)
    for words in (("serve",), ("company", "list"), ("status",)):
        told = " ".join(installation.run(*words, env={"WMSD_SERVER_LISTEN": "127.0.0.1:0"}).err.split())
        assert command in told, (words, told)
    assert command in installation.run("doctor").out
    installation.ok(*command.split()[1:], "--yes")
    assert of_companies(installation) == files
    assert is_right(installation)


def test_without_a_backup_it_is_said_that_the_files_are_kept(installation: Home) -> None:
    lose(installation)
    files = of_companies(installation)
    sentence = installation.refused("serve")
    assert "Nothing was changed" in sentence
    assert "There is no backup of this installation in" in sentence
    assert "keep the companies' files: they contain all records" in sentence
    assert "wmsd backup restore FILE --only-platform" in sentence
    assert of_companies(installation) == files
