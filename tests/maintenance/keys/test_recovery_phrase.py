"""`wmsd recovery-phrase`, and how backups, restores and moves use recovery phrases."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.backups import PASSPHRASE, add_article, articles, back_up, manifest, restore
from tests.support.command import EMAIL, Home, Server, at_a_terminal, first_day
from tests.support.mailbox import ALLOWED, open_mailbox
from wmsd.maintenance.backups.last_runs import read_record

UNLIMITED = {"WMSD_LIMITS_DATA_PER_MINUTE": "1000000"}
DAILY = {"WMSD_BACKUP_EVERY": "day"}
SECRET = "a secret that nobody guesses, ever"
LOST = "If this machine is lost, all API tokens (1) and webhook credentials (0)"


@pytest.fixture
def installation(home: Home) -> Home:
    return first_day(home)


@pytest.fixture
def elsewhere(home: Home, tmp_path: Path) -> Home:
    """Return another machine without any files."""
    (tmp_path / "elsewhere").mkdir()
    return Home(home.program, tmp_path / "elsewhere")


def created(home: Home) -> str:
    """Create a recovery phrase and return its words."""
    return home.ok("recovery-phrase", "create").out.strip()


def checked(home: Home) -> str:
    """Create a recovery phrase, check it, and return its words."""
    words = created(home)
    home.ok("recovery-phrase", "check", stdin=f"{words}\n")
    return words


def words_file(home: Home, words: str) -> Path:
    path = home.write("words", f"{words}\n")
    path.chmod(0o600)
    return path


def scheduled(home: Home) -> Path:
    home.ok("backup", "schedule", "--run", "--now", env=DAILY)
    made = read_record(home.data).made
    assert made is not None
    return Path(made.path)


def known_phrases(home: Home) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = home.ok("recovery-phrase", "list", "--json").json
    return found


def subscribe(server: Server, url: str) -> None:
    body = {"name": "R", "url": url, "events": ["*"], "secret": SECRET}
    status, made = server.send("POST", "/api/webhooks", body)
    assert status == 201, made


def files_in(*folders: Path) -> Iterator[tuple[Path, bytes]]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file():
                yield path, path.read_bytes()


def test_tokens_and_webhook_credentials_come_back_on_another_box(installation: Home, elsewhere: Home) -> None:
    words = checked(installation)
    with open_mailbox() as mailbox, installation.serving(env={**UNLIMITED, **ALLOWED}) as server:
        subscribe(server, mailbox.url)
        add_article(server, "A1")
        (letter,) = mailbox.wait_for(1)
        archive, token = back_up(installation), server.token
        signature = letter.headers["x-webhook-sequence"]
        assert signature == "1"
    shutil.rmtree(installation.data)
    said = restore(elsewhere, archive, "--passphrase-file", words_file(elsewhere, words))
    assert said["keys"] == "backup"
    with elsewhere.serving(env={**UNLIMITED, **ALLOWED}) as server:
        server.token = token
        assert articles(server) == ["A1"]
        with open_mailbox() as there:
            assert server.send("PATCH", "/api/v2/webhooks/1", {"url": there.url})[0] == 200
            add_article(server, "A2")
            assert there.wait_for(1)[0].json["data"]["code"] == "A2"
    (phrase,) = known_phrases(elsewhere)
    assert phrase["checked_at"] is not None, "a restored installation goes on with its phrase"


def test_the_words_are_nowhere_on_the_disk(installation: Home) -> None:
    installation.ok("recovery-phrase", "decline", "--yes")
    with installation.serving() as server:
        words = created(installation)
        mistyped = f"{words} more"
        assert installation.run("recovery-phrase", "check", stdin=f"{mistyped}\n").code == 1
        installation.ok("recovery-phrase", "check", stdin=f"{words}\n")
        scheduled(installation)
        installation.ok("support-bundle", installation.folder / "bundle.zip", env=DAILY)
        assert server.get("/api/articles")[0] == 200
    words_in_pairs = [" ".join(words.split()[at : at + 2]) for at in range(11)]
    written = [
        path
        for path, content in files_in(installation.folder)
        for pair in words_in_pairs
        if pair.encode() in content
    ]
    assert written == []
    said = installation.ok("audit", "--what", "recovery-phrase", "--json").json
    assert [each["action"] for each in said] == [
        "recovery-phrase.decline",
        "recovery-phrase.create",
        "recovery-phrase.check",
    ]


def test_it_is_told_what_is_lost_until_a_phrase_is_checked(installation: Home) -> None:
    assert installation.ok("status", env=DAILY).code == 0, "before there is a backup the question waits"
    scheduled(installation)
    done = installation.run("status", env=DAILY)
    assert (done.code, len(done.wrong)) == (1, 1)
    assert done.wrong[0].startswith(f"{LOST} are lost too, because no backup contains the keys. Create a recovery")
    assert LOST in installation.ok("doctor", env=DAILY).out
    words = created(installation)
    (sentence,) = installation.run("status", env=DAILY).wrong
    assert "no one has checked that the recovery phrase" in sentence
    installation.ok("recovery-phrase", "check", stdin=f"{words}\n")
    (phrase,) = known_phrases(installation)
    told = installation.ok("status", "--json", env=DAILY).json
    assert told["keys"].startswith(
        f"backups contain the keys, encrypted with the recovery phrase {phrase['fingerprint']}, checked 20"
    )
    assert LOST not in installation.ok("doctor", env=DAILY).out


def test_whoever_declines_is_told_and_nothing_is_wrong(installation: Home) -> None:
    scheduled(installation)
    done = installation.ok("recovery-phrase", "decline", "--yes")
    assert "continues without a recovery phrase" in done.err
    said = installation.ok("status", "--json", env=DAILY).json
    assert said["keys"].startswith(f"{LOST} are lost too. An admin decided at")
    assert "An admin decided at" in installation.ok("doctor", env=DAILY).out
    with installation.serving(env={**DAILY, **UNLIMITED}) as server:
        health = server.get("/api/health")[1]
        assert (health["checks"]["keys"]["ok"], health["checks"]["keys"]["state"]) == (True, "declined")
        assert health["checks"]["keys"]["tokens"] == 1
    checked(installation)
    assert "declined" not in installation.ok("status", env=DAILY).out
    sentence = installation.refused("recovery-phrase", "decline", "--yes")
    assert sentence.endswith("is in use and protects the keys.")


def test_health_is_degraded_and_a_stranger_gets_no_figures(installation: Home) -> None:
    scheduled(installation)
    with installation.serving(env={**DAILY, **UNLIMITED}) as server:
        known, stranger = (server.get("/api/health", token=token)[1] for token in (None, ""))
        assert (known["status"], stranger["status"]) == ("degraded", "degraded")
        assert known["checks"]["keys"] == {
            "ok": False,
            "degraded": True,
            "state": "none",
            "tokens": 1,
            "credentials": 0,
        }
        assert stranger["checks"]["keys"] == {"ok": False, "degraded": True}
        (sentence,) = [each for each in installation.run("status", env=DAILY).wrong if "keys" in each]
        assert sentence.startswith(LOST), "the server tells it, which has the file alone"


def test_it_says_to_which_phrase_the_keys_are_sealed(installation: Home) -> None:
    words = checked(installation)
    (phrase,) = known_phrases(installation)
    archive = scheduled(installation)
    assert manifest(archive)["phrases"] == [
        {name: phrase[name] for name in ("fingerprint", "created_at", "checked_at")}
    ]
    sealed = f"encrypted with the recovery phrase {phrase['fingerprint']}, last checked at {phrase['checked_at']}"
    assert installation.ok("backup", "schedule", "--json", env=DAILY).json["keys"] == sealed
    assert sealed in installation.ok("status", env=DAILY).out
    without = installation.ok("backup", "verify", archive)
    assert f"{sealed}. To test their decryption" in without.err
    with_words = installation.ok("backup", "verify", archive, "--passphrase-file", words_file(installation, words))
    assert f"{sealed}. Their decryption was tested." in with_words.err


def test_keys_that_are_damaged_in_the_archive_are_noticed_without_the_words(installation: Home) -> None:
    checked(installation)
    archive = back_up(installation)
    at = manifest(archive)["keys_at"]
    content = bytearray(archive.read_bytes())
    content[at + 30 : at + 60] = os.urandom(30)
    archive.write_bytes(content)
    assert "cannot be restored completely" in installation.run("backup", "verify", archive).out


def test_wrong_words_are_refused_with_the_reason(installation: Home, elsewhere: Home) -> None:
    words = checked(installation)
    archive = back_up(installation)
    first, *others = words.split()
    last = first[-1]
    typo = " ".join([f"{first[:-1]}{'x' if last != 'x' else 'q'}{last}", *others])
    file = words_file(elsewhere, typo)
    assert f"The file {file} does not have the recovery phrase" in elsewhere.refused(
        "backup", "restore", archive, "--passphrase-file", file
    )
    (elsewhere.folder / "foreign").mkdir()
    foreign = first_day(Home(installation.program, elsewhere.folder / "foreign"))
    file = words_file(elsewhere, checked(foreign))
    sentence = elsewhere.refused("backup", "restore", archive, "--passphrase-file", file)
    assert f"you typed the recovery phrase {known_phrases(foreign)[0]['fingerprint']}" in sentence
    sentence = elsewhere.refused("backup", "restore", archive)
    assert f"encrypted with the recovery phrase {known_phrases(installation)[0]['fingerprint']}" in sentence
    assert not (elsewhere.data / "platform.db").exists()
    sentence = installation.refused("recovery-phrase", "check", "--passphrase-file", file)
    assert "of another installation. Type the words of this installation's phrase " in sentence


def test_at_a_terminal_a_restore_asks_until_the_words_are_right(installation: Home, elsewhere: Home) -> None:
    words = checked(installation)
    archive = back_up(installation)
    mistyped = " ".join(words.split()[:11])
    done = at_a_terminal(elsewhere, "backup", "restore", archive, answers=[mistyped, words])
    assert done.code == 0, done
    assert "A recovery phrase has 12 words, but this text has 11." in done.err
    assert "The keys are those from the backup: tokens still work" in done.err
    with elsewhere.serving() as server:
        assert server.get("/api/articles", token=(installation.folder / "token").read_text())[0] == 200


def test_at_a_terminal_it_is_created_and_checked_at_once(installation: Home) -> None:
    arguments, answers = ("recovery-phrase", "create"), ["", "one two three"]
    done = at_a_terminal(installation, *arguments, answers=answers, interrupt_after="this text has 3")
    assert "this text has 3" in done.err, "and it asks again, until Ctrl-C"


def test_a_phrase_that_was_not_checked_gives_way_to_the_next(installation: Home) -> None:
    first, second = created(installation), created(installation)
    sentence = installation.refused(
        "recovery-phrase", "check", "--passphrase-file", words_file(installation, first)
    )
    assert "which was replaced at" in sentence
    installation.ok("recovery-phrase", "check", stdin=f"{second}\n")
    assert [each["replaced_at"] is None for each in known_phrases(installation)] == [True, False]
    assert "There is already a recovery phrase" in installation.refused("recovery-phrase", "create")


def test_old_backups_open_with_the_old_phrase_and_both_until_the_check(
    installation: Home, elsewhere: Home
) -> None:
    old = checked(installation)
    before = back_up(installation, installation.folder / "before.tar.gz")
    done = installation.ok("recovery-phrase", "replace", "--yes")
    new = done.out.strip()
    assert "Existing backups open only with the recovery phrase" in done.err
    between = back_up(installation, installation.folder / "between.tar.gz")
    installation.ok("recovery-phrase", "check", stdin=f"{new}\n")
    after = back_up(installation, installation.folder / "after.tar.gz")
    opens = {
        (name, words): installation.run(
            *("backup", "verify", archive, "--passphrase-file", words_file(installation, words))
        ).code
        == 0
        for name, archive in (("before", before), ("between", between), ("after", after))
        for words in (old, new)
    }
    assert [words for (name, words), does in opens.items() if name == "before" and does] == [old]
    assert [words for (name, words), does in opens.items() if name == "between" and does] == [old, new]
    assert [words for (name, words), does in opens.items() if name == "after" and does] == [new]


def test_a_restore_in_place_brings_no_replaced_phrase_back(installation: Home) -> None:
    checked(installation)
    archive = back_up(installation)
    new = installation.ok("recovery-phrase", "replace", "--yes").out.strip()
    installation.ok("recovery-phrase", "check", stdin=f"{new}\n")
    known = known_phrases(installation)
    assert restore(installation, archive)["keys"] == "replaced"
    assert known_phrases(installation) == known


def test_there_is_nothing_to_replace_before_a_check(installation: Home) -> None:
    created(installation)
    assert "There is no checked recovery phrase to replace." in installation.refused("recovery-phrase", "replace")


def test_a_passphrase_of_the_settings_goes_on_to_work(installation: Home, elsewhere: Home) -> None:
    file = words_file(installation, PASSPHRASE)
    own = {**DAILY, "WMSD_BACKUP_PASSPHRASE_FILE": str(file)}
    done = installation.ok("recovery-phrase", "create", env=own)
    assert f"Scheduled backups encrypt the keys with the passphrase in {file}." in done.err
    installation.ok("recovery-phrase", "check", stdin=done.out)
    installation.ok("backup", "schedule", "--run", "--now", env=own)
    made = read_record(installation.data).made
    assert made is not None
    assert manifest(Path(made.path))["phrases"] == []
    assert restore(elsewhere, Path(made.path), "--passphrase-file", file)["keys"] == "backup"
    sealed = scheduled(installation)  # without the setting
    assert len(manifest(sealed)["phrases"]) == 1
    proven = installation.ok("backup", "verify", sealed, env=own)
    assert "To test their decryption" in proven.err, (
        "the passphrase says nothing of an archive that is sealed to a phrase"
    )


def test_a_company_moves_with_its_credentials(installation: Home, elsewhere: Home) -> None:
    words = checked(installation)
    first_day(elsewhere)
    with open_mailbox() as mailbox, installation.serving(env={**UNLIMITED, **ALLOWED}) as server:
        subscribe(server, mailbox.url)
        file = installation.folder / "acme.tar.gz"
        done = installation.ok("company", "export", "ACME", file)
    assert "To import them, you need the recovery phrase" in done.err
    said = at_a_terminal(elsewhere, "company", "import", file, "--code", "TYPED", answers=["a b", words])
    assert (said.code, "credentials were imported" in said.err) == (0, True), said
    said = elsewhere.ok(
        *("company", "import", file, "--code", "READ", "--passphrase-file", words_file(elsewhere, words))
    )
    assert "credentials were imported" in said.err
    said = elsewhere.ok("company", "import", file, "--code", "WITHOUT")
    assert "credentials were not imported" in said.err


def test_sealed_keys_need_no_phrase(installation: Home) -> None:
    installation.ok("key", "move", installation.folder / "key")
    sealed = {**DAILY, "WMSD_SERVER_KEY_FILE": str(installation.folder / "key")}
    installation.ok("backup", "schedule", "--run", "--now", env=sealed)
    assert installation.ok("status", "--json", env=sealed).json["keys"].startswith("encrypted with the key file")


def test_no_user_can_read_the_words_in_the_list(installation: Home) -> None:
    words = checked(installation)
    shown = installation.ok("recovery-phrase", "list", "--json").out
    assert EMAIL not in shown
    assert not any(f'"{word}"' in shown for word in words.split())
