"""`wmsd backup restore` of a whole installation."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.support.backups import (
    PASSPHRASE,
    UNLIMITED,
    add_article,
    articles,
    back_up,
    backup_before_the_last_article,
    damage,
    is_right,
    is_right_but_for_open_entries,
    restore,
    sql,
)
from tests.support.command import EMAIL, Home, at_a_terminal, first_day, hashes, made_on_first_day
from tests.support.privileges import AS_ROOT
from wmsd.data_folder.file_swap import JOURNAL, Rename
from wmsd.db.engine.sqlite import connect


@pytest.fixture
def installation(home: Home) -> Home:
    return first_day(home)


@pytest.fixture
def saved(installation: Home) -> Path:
    return backup_before_the_last_article(installation)


def test_everything_is_as_it_was_at_the_backup(installation: Home, saved: Path) -> None:
    said = restore(installation, saved)
    assert (said["companies"], said["missing_events"], said["keys"]) == (1, 1, "replaced")
    assert is_right(installation)
    with installation.serving() as server:
        assert articles(server) == ["KEPT"]


def test_what_was_replaced_is_kept(installation: Home, saved: Path) -> None:
    before = hashes(installation.data)
    replaced = Path(restore(installation, saved)["replaced"])
    assert replaced.name.startswith("replaced-")
    kept = hashes(installation.folder / replaced)
    assert {name: before[name] for name in kept} == kept
    assert set(kept) == {"platform.db", "companies/1.db"}
    for name in kept:  # and the replaced files can be put back
        (installation.folder / replaced / name).replace(installation.data / name)
    with installation.serving() as server:
        assert articles(server) == ["KEPT", "LOST"]


def test_what_is_missing_is_said_with_numbers(installation: Home, saved: Path) -> None:
    done = installation.ok("backup", "restore", "--yes", saved)
    assert "ACME: 1 event (2) came after the backup and is missing. New events get higher numbers." in done.err
    assert "tokens still work, and users must sign in again." in done.err


def test_what_is_missing_is_said_once(installation: Home, saved: Path) -> None:
    """The event numbers of the restored file jump ahead of its events. A second restore does not report this gap
    as a loss.
    """
    assert restore(installation, saved)["missing_events"] == 1
    for only in ((), ("--company", "ACME")):
        done = installation.ok("backup", "restore", "--yes", saved, *only, "--json")
        assert done.json["missing_events"] == 0
        assert "came after the backup" not in done.err
        sentence = f"The previous files are in {done.json['replaced']}. Delete that folder when you do not need it"
        assert f"{sentence} any more." in done.err
        assert done.err.count("Data folder: ") == 1


def test_what_is_missing_by_what_the_platform_noted_is_not_called_unknown(installation: Home, saved: Path) -> None:
    """The file itself cannot be read, but platform.db has a record of its latest event."""
    (installation.data / "companies" / "1.db").write_bytes(b"no database" * 1000)
    done = installation.ok("backup", "restore", saved, "--yes", "--json")
    assert done.json["missing_events"] == 1
    assert "ACME: 1 event (2) came after the backup and is missing." in done.err
    assert "Changes of the last minute in ACME may be missing too: no file could be read" in done.err
    assert "does not know" not in done.err


def test_a_folder_for_what_was_replaced_is_named_only_where_there_is_one(installation: Home, saved: Path) -> None:
    # two connections that close the file together may leave its write-ahead log
    for file in (installation.data / "companies").glob("1.db*"):
        file.unlink()
    done = installation.ok("backup", "restore", "--yes", saved, "--company", "ACME", "--json")
    assert (done.json["replaced"], "The previous files" in done.err) == (None, False)
    assert "came after the backup and" in done.err


def test_numbers_go_on_after_those_that_were_given(installation: Home, saved: Path) -> None:
    file = installation.data / "companies" / "1.db"
    [[last_event]] = sql(file, "SELECT max(sequence) FROM events")
    [[last_change]] = sql(file, "SELECT value FROM change_sequence")
    restore(installation, saved)
    with installation.serving(env=UNLIMITED) as server:
        add_article(server, "NEW")
    assert sql(file, "SELECT max(sequence) FROM events") == [(last_event + 1,)]
    assert sql(file, "SELECT value FROM change_sequence")[0][0] > last_change


def test_into_an_empty_folder_on_another_box(installation: Home, saved: Path) -> None:
    shutil.rmtree(installation.data)
    said = restore(installation, saved)
    assert (said["replaced"], said["keys"], said["missing_events"]) == (None, "anew", None)
    assert is_right_but_for_open_entries(installation)
    with installation.serving() as server:
        assert server.get("/api/articles")[0] == 401  # the keys are new
        token = installation.ok("token", "create", "--user", EMAIL, "--ability", "*").out.strip()
        assert [each["code"] for each in server.get("/api/articles", token=token)[1]["data"]] == ["KEPT"]


def test_with_the_passphrase_tokens_go_on(installation: Home) -> None:
    words = installation.write("words", f"{PASSPHRASE}\n")
    archive = back_up(installation, "--passphrase-file", words)
    shutil.rmtree(installation.data)
    assert restore(installation, archive, "--passphrase-file", words)["keys"] == "backup"
    with installation.serving() as server:
        assert server.get("/api/articles")[0] == 200


def test_keys_that_are_in_the_backup_are_not_left_there_by_mistake(installation: Home) -> None:
    """A user who forgets the passphrase on a new machine would otherwise invalidate every token."""
    words = installation.write("words", f"{PASSPHRASE}\n")
    archive = back_up(installation, "--passphrase-file", words)
    shutil.rmtree(installation.data)
    assert installation.refused("backup", "restore", "--yes", archive) == (
        f"The keys of the installation are in {archive}, encrypted with a passphrase. Nothing was "
        "changed. Name the file with the passphrase: --passphrase-file FILE. If the passphrase is lost, "
        "--new-keys generates new keys: then all users sign in again, and integrators need new tokens."
    )
    assert not installation.data.exists()
    done = installation.ok("backup", "restore", "--yes", archive, "--new-keys")
    assert (
        "The keys of the installation are replaced by new keys at the next start. All users must sign in again"
        in done.err
    )
    assert is_right_but_for_open_entries(installation)


def test_a_wrong_passphrase_changes_nothing(installation: Home) -> None:
    words = installation.write("words", f"{PASSPHRASE}\n")
    others = installation.write("others", "quite another passphrase\n")
    others.chmod(0o600)
    archive = back_up(installation, "--passphrase-file", words)
    (installation.data / "platform.db").unlink()
    before = hashes(installation.data)
    sentence = installation.refused("backup", "restore", "--yes", archive, "--passphrase-file", others)
    assert "are not encrypted with this passphrase" in sentence
    assert hashes(installation.data) == before


def test_at_a_terminal_it_says_what_goes_and_asks(installation: Home, saved: Path) -> None:
    installation.write("more.csv", "code,name\nP,Pear\nQ,Quince\n")
    installation.ok("import", "articles", "more.csv", "--company", "ACME")
    before = hashes(installation.data)
    for options in ((), ("--company", "ACME")):
        done = at_a_terminal(installation, "backup", "restore", saved, *options, answers=["n"])
        shown = " ".join(done.err.split())
        assert (done.code, "Nothing was changed." in shown, "Restoring" in shown) == (1, True, False)
        removed = "Everything that was written later is removed: at least 3 events of ACME."
        assert f"{removed} The present files are kept in" in shown
        assert hashes(installation.data) == before
    assert at_a_terminal(installation, "backup", "restore", saved, answers=["y"]).code == 0
    assert hashes(installation.data) != before
    assert at_a_terminal(installation, "backup", "restore", saved, "--yes").code == 0
    assert at_a_terminal(installation, "backup", "restore", saved, "--data", "empty").code == 0


def test_it_asks_too_where_only_the_files_of_companies_are_left(installation: Home, saved: Path) -> None:
    """A restore asks for confirmation if only company files remain, because these may be newer than the backup."""
    (installation.data / "platform.db").unlink()
    before = hashes(installation.data)
    done = at_a_terminal(installation, "backup", "restore", saved, answers=["n"])
    assert (done.code, "at least 1 event of ACME" in " ".join(done.err.split())) == (1, True), done.err
    assert hashes(installation.data) == before


def test_what_cannot_be_restored_is_refused_before_it_asks(installation: Home, saved: Path) -> None:
    done = at_a_terminal(installation, "backup", "restore", saved, "--company", "NOPE")
    assert (done.code, "has no company NOPE" in done.err) == (1, True)


def test_revoked_tokens_stay_revoked(installation: Home) -> None:
    archive = back_up(installation)
    [[number]] = sql(installation.data / "platform.db", "SELECT id FROM tokens")
    installation.ok("token", "revoke", str(number))
    done = installation.ok("backup", "restore", "--yes", archive)
    assert "1 token that was revoked or disabled after the backup stays revoked or disabled." in done.err
    with installation.serving() as server:
        assert server.get("/api/articles")[0] == 401


def add_user(home: Home, email: str) -> None:
    options = ("--role", "company-admin", "--company", "ACME", "--password-stdin")
    home.ok("user", "create", email, *options, stdin="four words make one\n")


def disabled(home: Home) -> dict[str, bool]:
    return {row["email"]: row["disabled"] for row in home.ok("user", "list", "--json").json}


def test_users_that_were_deleted_come_back_shut_out_and_are_named(installation: Home) -> None:
    for name in ("bo", "dora", "eve"):
        add_user(installation, f"{name}@example.com")
    archive = back_up(installation)
    installation.ok("user", "delete", "dora@example.com", "--yes")
    installation.ok("user", "change", "eve@example.com", "--email", "eva@example.com")
    installation.ok("user", "delete", "eva@example.com", "--yes")
    add_user(installation, "eva@example.com")
    done = installation.ok("backup", "restore", "--yes", archive)
    for email in ("dora@example.com", "eve@example.com"):
        assert (
            f"The user {email} was deleted after the backup. The restore brought the user back, disabled"
            in done.err
        )
    found = disabled(installation)
    assert [found[f"{name}@example.com"] for name in ("bo", "dora", "eve")] == [False, True, True]
    installation.ok("user", "enable", "dora@example.com")
    again = installation.ok("backup", "restore", "--yes", back_up(installation, "again.tar.gz"))
    assert "deleted after" not in again.err


def test_users_that_an_older_backup_did_not_know_come_back_as_they_were(installation: Home) -> None:
    """Nobody deleted these users: the restore of the wrong backup removed them."""
    older = back_up(installation)
    add_user(installation, "late@example.com")
    newer = back_up(installation, "newer.tar.gz")
    report = installation.ok("backup", "restore", "--yes", older)
    assert "This user was created after the backup and cannot sign in any more: late@example.com." in report.err
    assert "those from the data folder" in report.out
    assert "late@example.com" not in disabled(installation)
    done = installation.ok("backup", "restore", "--yes", newer)
    assert disabled(installation)["late@example.com"] is False
    assert ("deleted" in done.err, "created after the backup" in done.err) == (False, False)


def test_a_company_that_was_made_after_the_backup(installation: Home, saved: Path) -> None:
    installation.ok("company", "create", "LATER", "--name", "Later")
    done = installation.ok("backup", "restore", "--yes", saved)
    assert "Not in the backup: companies/2.db." in done.err
    assert [row["code"] for row in installation.ok("company", "list", "--json").json] == ["ACME"]
    assert is_right(installation)
    installation.ok("company", "create", "NEXT", "--name", "Next")
    assert [row["id"] for row in installation.ok("company", "list", "--json").json] == [1, 3]


def test_beside_a_server_everything_is_refused(installation: Home, saved: Path) -> None:
    with installation.serving() as server:
        sentence = installation.refused("backup", "restore", "--yes", saved)
        assert "Stop that wmsd first" in sentence
        assert articles(server) == ["KEPT", "LOST"]


def test_another_installation_s_backup_is_refused(installation: Home, saved: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = made_on_first_day(Home(installation.program, tmp_path / "other"))
    before = hashes(other.data)
    for options in ((), ("--company", "ACME")):
        assert f"of another installation than the one in {other.data}" in other.refused(
            "backup", "restore", "--yes", saved, *options
        )
    assert hashes(other.data) == before


def test_a_backup_of_a_newer_program_is_refused(installation: Home) -> None:
    connection = connect(installation.data / "companies" / "1.db")
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    archive = back_up(installation)
    before = hashes(installation.data)
    sentence = installation.refused("backup", "restore", "--yes", archive)
    assert "has schema 999; this program supports schemas up to" in sentence
    assert hashes(installation.data) == before


def test_what_doctor_finds_is_refused_and_can_be_insisted_on(installation: Home, saved: Path) -> None:
    connection = connect(installation.data / "companies" / "1.db")
    connection.execute("UPDATE row_counts SET rows = 99 WHERE name = 'articles'")
    connection.close()
    archive = installation.folder / "wrong.tar.gz"
    installation.ok("backup", "create", archive)
    before = hashes(installation.data)
    sentence = installation.refused("backup", "restore", "--yes", archive)
    assert "ACME in" in sentence
    assert sentence.endswith("Restore another backup, or restore this backup with --anyway.")
    assert hashes(installation.data) == before
    restore(installation, archive, "--anyway")


def test_what_was_proven_is_not_examined_again(installation: Home) -> None:
    """The checksum shows that these are the bytes that the proof has examined."""
    archive = back_up(installation)
    for is_verified in (False, True):
        if is_verified:
            installation.ok("backup", "verify", archive)
        restore(installation, archive)
    damage(archive)
    assert "is damaged" in installation.refused("backup", "restore", "--yes", archive)


def test_a_damaged_archive_changes_nothing(installation: Home, saved: Path) -> None:
    damage(saved)
    before = hashes(installation.data)
    refused = installation.refused("backup", "restore", "--yes", saved)
    assert re.search(rf"{saved} is damaged: .+\. (ACME|platform\.db) cannot be", refused)
    assert "wmsd backup verify lists everything" in refused
    assert hashes(installation.data) == before


def test_a_restore_that_was_cut_off_is_finished_by_whoever_comes_next(installation: Home, saved: Path) -> None:
    """The journal is written, and no file, or only some files, are in their places."""
    done = json.loads(installation.ok("backup", "restore", "--yes", saved, "--json").out)
    aside = Path(done["replaced"]).name
    data = installation.data
    kept = {name: (data / aside / name) for name in ("platform.db", "companies/1.db")}
    for steps in range(3):
        (data / ".restoring" / "companies").mkdir(parents=True, exist_ok=True)
        renames = []
        for name in kept:
            renames += [Rename(name, f"again-{steps}/{name}"), Rename(f".restoring/{name}", name)]
            shutil.copy(data / name, data / ".restoring" / name)
        (data / JOURNAL).write_text(json.dumps(renames))
        for source, target in renames[:steps]:
            (data / target).parent.mkdir(parents=True, exist_ok=True)
            (data / source).rename(data / target)
        installation.ok("company", "list")
        assert not (data / JOURNAL).exists()
        assert sorted(path.name for path in (data / f"again-{steps}").iterdir()) == ["companies", "platform.db"]
        assert is_right(installation)


def test_a_journal_that_cannot_be_read_is_left(installation: Home) -> None:
    (installation.data / JOURNAL).write_text("{")
    sentence = installation.refused("company", "list")
    assert "which records an interrupted restore, cannot be read. Nothing was changed." in sentence


@AS_ROOT
def test_what_root_restores_is_the_service_s(installation: Home, saved: Path) -> None:
    for path in (installation.data, *installation.data.rglob("*")):
        os.chown(path, 1234, 1234)
    restore(installation, saved)
    replaced = Path(restore(installation, saved, "--company", "ACME")["replaced"])
    data = installation.data
    made = [data / "platform.db", data / "companies" / "1.db", installation.folder / replaced]
    made += list((installation.folder / replaced).rglob("*"))
    assert {path.stat().st_uid for path in made} == {1234}
