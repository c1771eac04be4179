"""Files, folders and programs in the settings that are missing or that the server cannot use."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.host.tls.test_lan import BOX
from tests.maintenance.doctor.scene import NOBODY, NOW, names, situation, state, told
from tests.support.privileges import AS_ROOT
from tests.support.read_settings import load_settings
from wmsd.contract.findings import Finding
from wmsd.host.tls.authority import new_authority
from wmsd.maintenance.doctor import file_modes, settings_files

Settings = dict[str, dict[str, Any]]
GOOD_WORD = "a-secret-that-nobody-guesses"


def found(data: Path, settings: Settings) -> list[Finding]:
    """Return the findings, and check that the examination writes nothing."""
    before = state(data.parent)
    looked = list(settings_files.findings(situation(data, settings)))
    assert state(data.parent) == before
    return looked


def says(data: Path, settings: Settings) -> list[str]:
    return [finding.sentence for finding in found(data, settings)]


def good(folder: Path) -> Settings:
    """Return settings that name everything that settings can name, each in a valid state."""
    for name in ("key", "passphrase", "token", "secret"):
        (folder / name).write_text(f"{GOOD_WORD}\n")
        (folder / name).chmod(0o600)
    (folder / "ca.pem").write_bytes(new_authority(BOX, NOW).certificate_pem)
    return {
        "server": {"key_file": folder / "key"},
        "webhooks": {"ca_file": folder / "ca.pem"},
        "sign_on": {"ca_file": folder / "ca.pem"},
        "backup": {"passphrase_file": folder / "passphrase", "after": "cp -v $ARCHIVE /mnt"},
        "metrics": {"token_file": folder / "token"},
        "alerts": {
            "url": "https://alerts.example.com/wmsd",
            "secret_file": folder / "secret",
            "ca_file": folder / "ca.pem",
            "command": f"{sys.executable}, -V",
        },
        "log": {"file": folder / "wmsd.log"},
    }


def test_what_is_as_it_must_be(data: Path) -> None:
    assert says(data, good(data.parent)) == []


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ("server", "key_file"),
        ("webhooks", "ca_file"),
        ("sign_on", "ca_file"),
        ("backup", "passphrase_file"),
        ("metrics", "token_file"),
        ("alerts", "secret_file"),
        ("alerts", "ca_file"),
    ],
)
def test_a_file_that_is_missing_or_empty(data: Path, section: str, key: str) -> None:
    settings = good(data.parent)
    settings[section][key] = file = data.parent / "other"
    assert says(data, settings) == [
        f"{file}, named in {section}.{key}, cannot be read: no such file or directory."
    ]
    file.touch(mode=0o600)
    assert names(found(data, settings)) == ["file-unfit"]
    file.unlink()
    file.mkdir()
    assert says(data, settings) == [f"{file}, named in {section}.{key}, cannot be read: is a directory."]


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ("server", "key_file"),
        ("webhooks", "ca_file"),
        ("backup", "passphrase_file"),
        ("metrics", "token_file"),
        ("alerts", "secret_file"),
    ],
)
def test_a_file_that_has_no_end(data: Path, section: str, key: str) -> None:
    """A FIFO without a writer would block the check, and a device would fill the memory."""
    settings = good(data.parent)
    fifo = data.parent / "fifo"
    os.mkfifo(fifo, 0o600)
    for file in (fifo, Path("/dev/zero")):
        settings[section][key] = file
        assert says(data, settings) == [
            f"{file}, named in {section}.{key}, cannot be read: it is not a regular file."
        ]


def test_settings_that_came_through_a_pipe(data: Path) -> None:
    """The settings were read already; reading the FIFO again would wait for another writer."""
    fifo = data.parent / "fifo"
    os.mkfifo(fifo)
    assert list(settings_files.findings(situation(data, config_file=fifo))) == []


@pytest.mark.parametrize(
    ("section", "key", "content", "why"),
    [
        (
            "metrics",
            "token_file",
            b"short",
            "The file {} must contain one secret of at least 20 characters, without spaces.",
        ),
        (
            "metrics",
            "token_file",
            b"\xc3\xa9" * 30,
            "The file {} must contain one secret of at least 20 characters, without spaces.",
        ),
        (
            "metrics",
            "token_file",
            b"x" * 4097,
            "The file {} has more than 4096 bytes, but must contain only one secret, without spaces.",
        ),
        (
            "alerts",
            "secret_file",
            b"two words of length",
            "The file {} must contain one secret of at least 16 characters, without spaces.",
        ),
        (
            "alerts",
            "secret_file",
            b"whsec_no-base64-at-all",
            "The secret in {} begins with whsec_, but the rest is not base64. Copy the whole secret again.",
        ),
        (
            "backup",
            "passphrase_file",
            b"short\nbut more below",
            "The passphrase in {} is too short: its first line must have at least 12 characters.",
        ),
        ("backup", "passphrase_file", b"\xff" * 20, "The passphrase file {} is not UTF-8 text."),
        ("webhooks", "ca_file", b"no PEM", "{} has no certificate in PEM format."),
    ],
)
def test_a_file_that_holds_something_else(data: Path, section: str, key: str, content: bytes, why: str) -> None:
    settings = good(data.parent)
    settings[section][key] = file = data.parent / "other"
    file.write_bytes(content)
    assert says(data, settings) == [
        f"{file}, named in {section}.{key}, does not have the required content. {why.format(file)}"
    ]


@pytest.mark.parametrize(
    ("content", "names_found"),
    [(b"", ["file-unfit"]), (b" \n", ["file-unfit"]), (b"\xff", ["file-unfit"]), (b"s+cr/t: %\n", [])],
)
def test_the_secret_of_a_client_of_a_provider(data: Path, content: bytes, names_found: list[str]) -> None:
    file, config = data.parent / "secret", data.parent / "config.toml"
    file.write_bytes(content)
    config.write_text(
        '[[sign_on.providers]]\nname = "main"\ntitle = "Main"\n'
        'issuer = "https://id.example.com"\nclient_id = "wmsd"\n'
        f'client_secret_file = "{file}"\n'
    )
    at = replace(situation(data), settings=load_settings(config, environment={}))
    looked = [each for each in settings_files.findings(at) if each.path == file]
    assert names(looked) == names_found
    assert [each.sentence for each in looked] == [
        f"{file}, named in sign_on.providers.0.client_secret_file, does not have the required content. "
        f"The file {file} must contain the secret of the client, as UTF-8 text."
    ][: len(names_found)]


@pytest.mark.parametrize("key", ["key", "passphrase", "token", "secret"])
def test_a_secret_that_others_may_read(open_data: Path, key: str) -> None:
    settings = good(open_data.parent)
    assert names(file_modes.findings_of_secrets(situation(open_data, settings))) == []
    (open_data.parent / key).chmod(0o644)
    assert told(file_modes.findings_of_secrets(situation(open_data, settings)), "secret-open-to-others") == (
        f"Other users of this machine can read {open_data.parent / key}, which contains a secret."
    )


@pytest.mark.parametrize(("has_key", "is_told"), [(False, []), (True, ["secret-open-to-others"])])
def test_a_certificate_that_others_may_read(open_data: Path, has_key: bool, is_told: list[str]) -> None:
    """The certificate file is a secret only if it also holds its key."""
    file, authority = open_data.parent / "chain.pem", new_authority(BOX, NOW)
    file.write_bytes(authority.certificate_pem + (authority.key_pem if has_key else b""))
    settings = {"server": {"tls": "files", "certificate": file}}
    assert names(file_modes.findings_of_secrets(situation(open_data, settings))) == is_told


def test_a_log_without_its_folder(data: Path) -> None:
    folder = data.parent / "logs"
    settings = {"log": {"file": folder / "wmsd.log"}}
    sentence = f"wmsd cannot write in {folder}, named in log.file: no such file or directory."
    assert says(data, settings) == [sentence]
    folder.mkdir()
    assert says(data, settings) == []
    (folder / "wmsd.log").mkdir()
    assert says(data, settings) == [
        f"wmsd cannot write in {folder / 'wmsd.log'}, named in log.file: is a directory."
    ]


def test_backups_in_a_place_that_is_no_folder(data: Path) -> None:
    place = data.parent / "backups"
    settings = {"backup": {"folder": place}}
    assert says(data, settings) == [], "it is made with the first backup"
    place.write_text("a file")
    assert says(data, settings) == [f"wmsd cannot write in {place}, named in backup.folder: not a directory."]


def test_backups_on_a_disk_that_is_not_mounted(data: Path) -> None:
    disk = data.parent / "disk"
    settings = {"backup": {"folder": disk / "backups"}}
    missing = "no such file or directory"
    assert says(data, settings) == [f"wmsd cannot write in {disk}, named in backup.folder: {missing}."]
    disk.mkdir()
    assert says(data, settings) == []


@contextmanager
def as_nobody() -> Iterator[None]:
    """Run the block as the user nobody, because root may enter every folder."""
    if os.geteuid():
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.mark.parametrize("below", ["", "deeper/"])
def test_a_folder_that_this_user_may_not_enter(open_data: Path, below: str) -> None:
    closed = open_data.parent / "closed"
    (closed / "deeper").mkdir(parents=True)
    (closed / "wmsd.log").touch()
    closed.chmod(0)
    settings = {"log": {"file": closed / f"{below}wmsd.log"}, "backup": {"folder": closed / f"{below}backups"}}
    at = situation(open_data, settings, user=open_data.stat().st_uid)
    with as_nobody():
        said = [finding.sentence for finding in settings_files.findings(at)]
    closed.chmod(0o700)
    folder = closed / below
    assert said == [
        f"wmsd cannot write in {folder}, named in log.file: permission denied.",
        f"wmsd cannot write in {folder}, named in backup.folder: permission denied.",
    ]


@AS_ROOT
def test_what_root_may_and_the_owner_of_the_data_may_not(open_data: Path) -> None:
    folder = open_data.parent
    settings = good(folder)
    assert says(open_data, settings) == []
    os.chown(open_data, NOBODY, NOBODY)
    refused = [finding for finding in found(open_data, settings) if finding.kind.name == "file-refused"]
    assert [each.facts["setting"] for each in refused] == [
        *("server.key_file", "backup.passphrase_file", "metrics.token_file", "alerts.secret_file"),
        *("log.file", "backup.folder"),
    ]
    assert refused[0].remedy == f"Give the file to the user that runs the server: chown nobody {folder / 'key'}"
    for each in refused:
        assert each.path is not None
        os.chown(each.path, NOBODY, NOBODY)
    assert says(open_data, settings) == []


def test_others_than_the_owner_only_examine_the_data(data: Path) -> None:
    """Other users may not write in the folders of the server, and do not have to."""
    settings = {"log": {"file": data.parent / "none" / "wmsd.log"}}
    at = situation(data, settings, user=NOBODY)
    assert names(settings_files.findings(at)) == []


@pytest.mark.parametrize("setting", ["alerts.command", "backup.after"])
def test_a_program_that_is_not_there_or_cannot_be_executed(data: Path, setting: str) -> None:
    section, _, key = setting.partition(".")
    program = data.parent / "tell-admins"
    missing = f"The program {program}, the first word of {setting}, cannot be started: "
    assert says(data, {section: {key: program}}) == [f"{missing}no such file or directory."]
    program.write_text("#!/bin/sh")
    assert says(data, {section: {key: program}}) == [f"{missing}permission denied."]
    program.chmod(0o755)
    assert says(data, {section: {key: program}}) == []
    assert names(found(data, {section: {key: "no-such-program"}})) == ["program-missing"]


@pytest.mark.parametrize(
    "command",
    [
        "cd /mnt && cp $ARCHIVE .",
        "COPY=1 no-such-program",
        "(no-such-program)",
        "$HOME/no-such-program",
        "'no such program' x",
        "test -d /mnt;no-such-program",
        "if true; then no-such-program; fi",
    ],
)
def test_what_only_the_shell_can_tell_is_left_to_it(data: Path, command: str) -> None:
    assert says(data, {"backup": {"after": command}}) == []


def test_a_shell_that_is_still_looking(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_files, "LOOK_UP", "exec sleep 60")
    monkeypatch.setattr(settings_files, "LOOK_UP_SECONDS", 0.1)
    [finding] = found(data, {"backup": {"after": "no-such-program $ARCHIVE"}})
    assert (finding.kind.name, finding.is_wrong) == ("program-unknown", False)
    assert finding.sentence == (
        "wmsd could not check whether the program no-such-program, the first word of backup.after, can "
        "be started: the shell was still searching after 0 s."
    )


@pytest.mark.parametrize(
    ("alerts", "sentence"),
    [
        ({"url": "http://alerts.example.com/"}, "The URL must begin with https://."),
        (
            {"url": "https://10.0.0.9/"},
            "10.0.0.9 is a private address; to allow it, add its network to alerts.allow_networks.",
        ),
        ({"url": "https://10.0.0.9/", "allow_networks": "10.0.0.0/8"}, None),
        ({"url": "https://x.example.com:99999/"}, "The port of the URL must be a number from 1 to 65535."),
    ],
)
def test_where_alerts_may_be_sent(data: Path, alerts: dict[str, Any], sentence: str | None) -> None:
    settings = good(data.parent)
    settings["alerts"] |= alerts
    told = [] if sentence is None else [f"No alert can be sent to the address in alerts.url. {sentence}"]
    assert says(data, settings) == told
