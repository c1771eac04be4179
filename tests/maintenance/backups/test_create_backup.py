"""`wmsd backup create`, `list` and `verify`."""

import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.backups import PASSPHRASE, add_article, back_up, manifest, newest_name, rewritten, unpacked
from tests.support.command import Home, Server, at_a_terminal, first_day, hashes
from tests.support.programs import program as debian
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import beside_a_server
from wmsd.db.engine.file_owner import Owner
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.maintenance.backups.archive import END
from wmsd.maintenance.backups.file_snapshots import FromServer, SnapshotLost
from wmsd.maintenance.backups.last_runs import read_record

UNLIMITED = {"WMSD_LIMITS_DATA_PER_MINUTE": "1000000"}
ARTICLES = "SELECT count(*) FROM articles"


@pytest.fixture
def installation(home: Home) -> Home:
    return first_day(home)


@pytest.fixture
def server(installation: Home) -> Iterator[Server]:
    with installation.serving(env=UNLIMITED) as server:
        yield server


def rows_in(file: Path, sql: str) -> int:
    connection = sqlite3.connect(file)
    try:
        [[number]] = connection.execute(sql)
        return int(number)
    finally:
        connection.close()


def test_tar_and_sqlite_read_what_is_in_it(installation: Home, server: Server) -> None:
    add_article(server, "A1")
    names = unpacked(back_up(installation), installation.folder / "out")
    assert names == ["companies/1.db", "manifest.json", "platform.db"]
    assert rows_in(installation.folder / "out" / "companies" / "1.db", ARTICLES) == 1
    assert rows_in(installation.folder / "out" / "platform.db", "SELECT count(*) FROM companies") == 1


def test_the_manifest_says_what_each_file_holds(installation: Home, server: Server) -> None:
    add_article(server, "A1")
    said = manifest(back_up(installation))
    platform, company = said["files"]
    assert (platform["path"], platform["company_id"]) == ("platform.db", None)
    assert (company["path"], company["company_id"], company["code"]) == ("companies/1.db", 1, "ACME")
    figures = company["figures"]
    assert figures["rows"]["articles"] == 1
    assert figures["last_event"] == 1
    assert figures["last_change"] > 0
    assert figures["sums"] == dict.fromkeys(figures["sums"], 0)
    assert said["left_out"] == []


def test_without_a_server(installation: Home) -> None:
    before = hashes(installation.data)
    archive = back_up(installation)
    assert [file["path"] for file in manifest(archive)["files"]] == ["platform.db", "companies/1.db"]
    assert hashes(installation.data) == before
    assert installation.ok("backup", "verify").code == 0


def test_the_keys_are_left_out(installation: Home, server: Server) -> None:
    out = installation.folder / "out"
    unpacked(back_up(installation), out)
    kept = "SELECT (SELECT count(*) FROM signing_keys) + (SELECT count(*) FROM secrets WHERE name = 'vault')"
    assert rows_in(out / "platform.db", kept) == 0
    secrets = installation.data / "platform.db"
    server.stop()
    connection = connect(secrets)
    [[key]] = connection.execute("SELECT secret FROM signing_keys")
    connection.close()
    assert key.encode() not in (out / "platform.db").read_bytes()


def test_no_session_and_no_link_comes_to_life_again(installation: Home) -> None:
    """A session or a link that has ended since the backup would work again after a restore."""
    moments = "'2026-01-01T00:00:00.000Z'"
    connection = connect(installation.data / "platform.db")
    connection.execute(
        f"INSERT INTO invitations (user_id, hash, expires_at) SELECT id, 'hash', {moments} FROM users LIMIT 1"
    )
    connection.execute(
        "INSERT INTO sessions (hash, user_id, made_at, seen_at, address, agent) "
        f"SELECT 'hash', id, {moments}, {moments}, '', '' FROM users LIMIT 1"
    )
    connection.close()
    kept = "SELECT (SELECT count(*) FROM sessions) + (SELECT count(*) FROM invitations)"
    assert rows_in(installation.data / "platform.db", kept) == 2
    unpacked(back_up(installation), installation.folder / "out")
    assert rows_in(installation.folder / "out" / "platform.db", kept) == 0


def test_age_opens_the_encrypted_keys(installation: Home, server: Server) -> None:
    words = installation.write("words", f"{PASSPHRASE}\n")
    words.chmod(0o600)
    archive = back_up(installation, "--passphrase-file", words)
    assert manifest(archive)["keys"] == "encrypted"
    unpacked(archive, installation.folder / "out")
    sealed = installation.folder / "out" / "keys.json.age"
    command = f"{debian('age')} --decrypt {sealed}"
    said = subprocess.run(
        ["script", "--quiet", "--echo", "never", "--command", command, "/dev/null"],
        input=f"{PASSPHRASE}\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    keys = json.loads(said[said.index("{") :])
    assert [len(rows) for rows in keys.values()] == [1, 2]


def test_sealed_keys_stay_sealed(installation: Home) -> None:
    key = installation.folder / "master.key"
    installation.ok("key", "move", key)
    environment = {"WMSD_SERVER_KEY_FILE": str(key)}
    installation.ok("backup", "create", env=environment)
    [archive] = (installation.folder / "data-backups").glob("*.gz")
    assert manifest(archive)["keys"] == "sealed"
    unpacked(archive, installation.folder / "out")
    sealed = "SELECT count(*) FROM signing_keys WHERE secret LIKE 'sealed:%'"
    assert rows_in(installation.folder / "out" / "platform.db", sealed) == 1


def test_writes_go_on_meanwhile_and_nothing_of_them_is_torn(installation: Home, server: Server) -> None:
    """Every backup has all articles up to some number, and the doctor finds no problem in the backup."""
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            add_article(server, f"A{number}")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            back_up(installation, installation.folder / f"{number}.tar.gz")
    finally:
        stop.set()
        writer.join()
    for number in range(3):
        archive = installation.folder / f"{number}.tar.gz"
        installation.ok("backup", "verify", archive)
        unpacked(archive, installation.folder / f"out{number}")
        file = installation.folder / f"out{number}" / "companies" / "1.db"
        whole = "SELECT count(*) = max(CAST(substr(code, 2) AS INTEGER)) FROM articles"
        assert rows_in(file, whole)


def test_a_company_that_cannot_be_read_is_left_out_and_said(installation: Home) -> None:
    installation.ok("company", "create", "OTHER", "--name", "Other")
    (installation.data / "companies" / "2.db").write_bytes(b"no database" * 1000)
    done = installation.run("backup", "create", "--json")
    assert done.code == 1
    assert "OTHER is not in the backup:" in done.err
    archive = installation.folder / done.json["backup"]
    assert [each["code"] for each in manifest(archive)["left_out"]] == ["OTHER"]
    refused = installation.run("backup", "verify")
    assert refused.code == 1
    assert "OTHER is not in the backup" in refused.err


def test_a_server_leaves_a_failed_company_out_too(installation: Home) -> None:
    installation.ok("company", "create", "OTHER", "--name", "Other")
    (installation.data / "companies" / "2.db").write_bytes(b"no database" * 1000)
    with installation.serving():
        done = installation.run("backup", "create", "--json")
        assert done.code == 1
        assert [each["code"] for each in manifest(installation.folder / done.json["backup"])["left_out"]] == [
            "OTHER"
        ]


def test_a_name_is_never_overwritten(installation: Home) -> None:
    kept = installation.write("mine.tar.gz", "precious")
    sentence = installation.refused("backup", "create", kept)
    assert sentence == f"{kept} already exists, and was not changed. Name another file."
    assert kept.read_text() == "precious"


def test_what_a_killed_backup_has_left_is_removed(installation: Home) -> None:
    back_up(installation)
    folder = installation.folder / "data-backups"
    (folder / ".unfinished-wmsd-2026-01-01T000000Z.tar.gz").write_bytes(b"half")
    (folder / ".unfinished-platform.db").write_bytes(b"half")
    installation.ok("backup", "create", folder / "second.tar.gz")
    assert [path.name for path in folder.glob(".unfinished*")] == []


def test_the_list_tells_of_each(installation: Home) -> None:
    assert f"There is no backup in {installation.data}-backups." in installation.ok("backup", "list").err
    archive = back_up(installation)
    (row,) = installation.ok("backup", "list", "--json").json
    assert row["backup"] == archive.name
    assert (row["companies"], row["keys"], row["error"]) == (1, "left out", None)
    assert archive.name in installation.ok("backup", "list").out


def test_two_installations_share_a_folder(installation: Home) -> None:
    own = back_up(installation)
    other = Home(installation.program, installation.folder / "elsewhere")
    other.folder.mkdir()
    other.ok("company", "create", "OTHER", "--name", "Other", "--init")
    newest = own.with_name(newest_name())
    other.ok("backup", "create", newest)
    rows = installation.ok("backup", "list", "--json").json
    assert [(row["backup"], row["installation"]) for row in rows] == [(own.name, "this"), (newest.name, "another")]
    assert installation.ok("backup", "verify", "--json").json["backup"].endswith(own.name)
    assert len(read_record(installation.data).sound) == 1
    installation.ok("backup", "verify", newest)
    assert len(read_record(installation.data).sound) == 1, "it proves nothing of this installation"
    own.unlink()
    assert installation.refused("backup", "verify") == (
        f"{installation.data}-backups has only backups of other installations. "
        "`wmsd backup create` creates a backup of this installation."
    )


def test_the_list_tells_of_one_that_is_cut_short(installation: Home) -> None:
    archive = back_up(installation)
    archive.write_bytes(archive.read_bytes()[:-1])
    done = installation.run("backup", "list")
    assert done.code == 1
    assert archive.name in done.out
    [sentence] = done.wrong
    assert sentence.endswith("is not a backup of wmsd, or it is incomplete: the end of the archive is missing.")


def test_a_changed_byte_is_found_or_changes_nothing(installation: Home) -> None:
    """The test changes bytes at many places, from the first to the last. Some bytes, such as a compressor's name,
    do not affect the content.
    """
    archive = back_up(installation)
    size = archive.stat().st_size
    right = contents(archive, installation.folder / "right")
    harmless = 0
    for place in [*range(0, size, size // 25), *range(size - END.size, size)]:

        def change(content: bytearray, place: int = place) -> None:
            content[place] ^= 0x40

        changed = rewritten(archive, change)
        done = installation.run("backup", "verify", changed)
        assert "Traceback" not in done.err, (place, done.err)
        if done.code == 0:
            harmless += 1
            assert contents(changed, installation.folder / str(place)) == right
    assert harmless < 10


def contents(archive: Path, folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in unpacked(archive, folder)}


def test_an_archive_that_is_cut_at_any_place_is_found(installation: Home) -> None:
    archive = back_up(installation)
    size = archive.stat().st_size
    for length in (0, 1, 100, size // 2, size - 100, size - 1):

        def cut(content: bytearray, length: int = length) -> None:
            del content[length:]

        assert installation.run("backup", "verify", rewritten(archive, cut)).code == 1


def test_a_wrong_passphrase_is_found_by_the_proof(installation: Home) -> None:
    words = installation.write("words", f"{PASSPHRASE}\n")
    others = installation.write("others", "quite another passphrase\n")
    back_up(installation, "--passphrase-file", words)
    assert installation.ok("backup", "verify", "--passphrase-file", words).code == 0
    done = installation.run("backup", "verify", "--passphrase-file", others)
    assert done.code == 1
    assert "are not encrypted with this passphrase" in done.err


@pytest.mark.parametrize("content", ["short", "\n", ""])
def test_a_passphrase_that_is_too_short_is_refused(installation: Home, content: str) -> None:
    words = installation.write("words", content)
    sentence = installation.refused("backup", "create", "--passphrase-file", words)
    assert sentence == (
        f"The passphrase in {words} is too short: its first line must have at least 12 characters."
    )


def test_something_else_is_no_backup(installation: Home) -> None:
    for content in (b"", b"text", b"\x1f\x8b" + bytes(100)):
        other = installation.write("other.tar.gz", content)
        sentence = installation.refused("backup", "verify", other)
        assert sentence.startswith(f"{other} is not a backup of wmsd, or it is incomplete")


def test_there_is_no_backup(installation: Home) -> None:
    sentence = installation.refused("backup", "verify")
    assert sentence == f"There is no backup in {installation.data}-backups. `wmsd backup create` creates a backup."
    sentence = installation.refused("backup", "verify", "nowhere.tar.gz")
    assert sentence == "nowhere.tar.gz cannot be read: no such file or directory."


def test_a_file_or_a_folder(installation: Home) -> None:
    assert installation.misunderstood("backup", "create", "a.tar.gz", "--folder", "b") == (
        "Error: Give either FILE or --folder."
    )


def test_two_at_once(installation: Home) -> None:
    """A second backup is refused while the first is running, and leaves no file behind."""
    folder = installation.folder / "data-backups"
    with installation.start("backup", "create", "--folder", folder) as first:
        done = installation.run_fresh("backup", "create", "--folder", folder)
        first.wait()
    assert 0 in (first.returncode, done.code)
    if done.code:
        assert "Another backup is being created" in done.err or "already exists" in done.err


def test_on_a_terminal_it_shows_how_far_it_is(installation: Home) -> None:
    done = at_a_terminal(installation, "backup", "create")
    assert done.code == 0
    assert "Copying" in done.err
    assert "100%" in done.err


def test_a_state_that_is_lost_while_it_is_counted_is_taken_again(installation: Home) -> None:
    """A command that borrows the file first waits for the state of the file, and after ten seconds ends that
    state.
    """
    with installation.serving():
        folder = DataFolder(installation.data)
        with beside_a_server(folder) as loan, beside_a_server(folder) as other:
            assert loan is not None
            assert other is not None
            source, file = FromServer(loan), installation.data / "companies" / "1.db"
            owner = Owner("", 1, "ACME")
            with pytest.raises(SnapshotLost), source.state(file, owner) as state:
                other.borrow(file)  # returns after ten seconds
                state.figures()
            with source.state(file, owner) as state:
                assert state.figures().rows["articles"] >= 0
                state.end()
