"""Sentences that version 1.1.0 stored are still shown, in Romanian where they have a translation. Codes and kinds
still find the remedy of each.
"""

import html
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import EMAIL, PASSWORD, Home, Server
from tests.support.site_elsewhere import Reader
from wmsd.interfaces.pages.kit.text import language

RELEASED = Path(__file__).parents[2] / "released" / "wmsd-1.1.0.tar.gz"
AT = "2026-11-28T05:24:19.000Z"
REQUEST_ID = "0123456789abcdef0123456789abcdef"
ATTEMPT = (
    "There is no address for the name example.com that may be dialled: either nobody knows the name, or it leads "
    "where this installation sends nothing. Its administrator finds which in the log of the service, and what it "
    "allows in webhooks.allow_networks and webhooks.allow_ports."
)
REFUSED = "It was LIVRAT, and CREAT was asked for; from there no move is possible."
DAMAGED = "it is damaged, in the table articles: row 7 missing from index."
NO_BACKUP = "There is no backup yet that can be relied on."
BACKUP_FAILED = "The folder of the backups cannot be written: it is somebody else's."
FILE_GONE = "it was removed or put aside while it was in use"
EXAMINATION = {
    "began_at": AT,
    "ended_at": AT,
    "files": 1,
    "wrong": 1,
    "findings": [{"file": "DEMO", "kind": "damage", "sentence": DAMAGED}],
    "installation": [
        {
            "check": "backups-none",
            "severity": "warning",
            "sentence": NO_BACKUP,
            "remedy": "Make one: wmsd backup create",
        }
    ],
}
ALERTS = {
    "open": [
        {"kind": "company-down", "subject": "1", "facts": {"company": "DEMO", "why": FILE_GONE}, "begun_at": AT}
    ]
}


def store(data: Path, name: str, content: Any) -> None:
    (data / name).write_text(json.dumps(content), encoding="utf-8")


def store_refusal(file: Path) -> None:
    """Add a refused request to a file of the request history, in the form of its other lines."""
    shown, rest, _ = file.read_text(encoding="utf-8").splitlines()[-1].split("\t")
    refusal = {"status": 409, "code": "INVALID_STATUS", "message": "The status does not permit this."}
    refused = json.loads(shown) | {
        "sequence": 1_795_843_459_000_000,
        "id": REQUEST_ID,
        "status": 409,
        "code": "INVALID_STATUS",
        "why": REFUSED,
    }
    line = [json.dumps(each, separators=(",", ":")) for each in (refused, json.loads(rest) | {"refusal": refusal})]
    with file.open("a", encoding="utf-8") as opened:
        opened.write("\t".join([*line, "\n"]))


@pytest.fixture
def server(home: Home) -> Iterator[Server]:
    """Run a server on the folder that 1.1.0 wrote, with further sentences of 1.1.0."""
    with tarfile.open(RELEASED) as archive:
        archive.extractall(home.data, filter="data")
    [requests] = home.data.joinpath("requests", "1").glob("*.jsonl")
    store_refusal(requests)
    store(home.data, "examination.json", EXAMINATION)
    with home.serving() as running:
        home.ok("user", "create", EMAIL, "--role", "platform-admin", "--password-stdin", stdin=f"{PASSWORD}\n")
        yield running


def text_of(server: Server, path: str, languages: str = "en") -> str:
    page = Reader(server, languages).sign_in().read(path)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def in_romanian(sentence: str) -> str:
    language.current.set("ro")
    return language.translate_error(sentence)


def test_the_error_of_an_attempt(server: Server) -> None:
    path = "/companies/1/webhooks/1/deliveries/1"
    assert ATTEMPT in text_of(server, path)
    translated = in_romanian(ATTEMPT)
    assert translated != ATTEMPT
    assert translated in text_of(server, path, "ro")


def test_the_reason_of_a_refused_request(server: Server) -> None:
    path = f"/companies/1/requests/{REQUEST_ID}"
    assert REFUSED in (shown := text_of(server, path))
    assert "Read the record again, and request a change that its current status allows." in shown
    translated = in_romanian(REFUSED)
    assert translated != REFUSED
    assert translated in text_of(server, path, "ro")


@pytest.mark.parametrize(
    ("languages", "remedy"),
    [
        ("en", "Restore this company from a verified backup."),
        ("ro", "Restaurați această companie dintr-o copie de siguranță verificată."),
    ],
)
def test_the_findings_of_an_examination(server: Server, languages: str, remedy: str) -> None:
    shown = text_of(server, "/admin/health", languages)
    assert "row 7 missing from index" in shown
    assert remedy in shown
    assert f"{NO_BACKUP} Make one: wmsd backup create" in shown


def test_alerts_and_failed_backups(server: Server, home: Home) -> None:
    server.stop()
    store(home.data, "alerts.json", ALERTS)
    store(home.data, "backup.json", {"failed": {"at": AT, "error": BACKUP_FAILED}})
    sentences = home.run("alerts").out
    assert f"The file of the company DEMO cannot be used or written: {FILE_GONE}" in sentences
    assert "Run wmsd doctor." in sentences
    assert BACKUP_FAILED in home.run("status", env={"WMSD_BACKUP_EVERY": "day"}).out
