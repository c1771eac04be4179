"""The JSON of an alert, for receivers and commands, and the outcome of sending an alert."""

import json
import socket
from pathlib import Path
from typing import Any, Final, NamedTuple

from wmsd import __version__
from wmsd.contract.command_hints import NOTHING_ADDED, Complete
from wmsd.server.alerts.alerts_file import Notice
from wmsd.server.alerts.kinds import BY_NAME, MORE, alert_sentence, kind_of

TEST: Final = "This is a test. Nothing is wrong."


def alert_body(notice: Notice, data: Path, complete: Complete = NOTHING_ADDED) -> dict[str, Any]:
    """Return the JSON of an alert, in the form of a webhook event.

    `data` is the data folder, which distinguishes installations on one machine. `complete` is a function that adds
    options to each command in a text. The options make the command use this installation.
    """
    kind = BY_NAME.get(notice.kind)
    is_over = notice.event == "alert.over"
    is_test = notice.event == "alert.test"
    return {
        "event": notice.event,
        "timestamp": notice.at,
        "data": {
            "alert": f"{notice.kind}:{notice.subject}" if notice.subject else notice.kind,
            "kind": notice.kind,
            "severity": "test" if kind is None else kind.severity,
            "title": "Test" if kind is None else kind.title,
            "sentence": TEST
            if is_test
            else complete(alert_sentence(notice.kind, notice.subject, notice.facts, is_over)),
            "remedy": "" if is_over else complete(kind_of(notice.kind).remedy),
            "facts": notice.facts,
            "subject": None if notice.subject in ("", MORE) else notice.subject,
            "begun_at": notice.begun_at,
            "over_at": notice.at if is_over else None,
            "host": socket.gethostname(),
            "data_folder": str(data.resolve()),
            "version": __version__,
        },
    }


def one_line(text: str) -> str:
    """Return the text on one line, without control characters."""
    return "".join(each for each in " ".join(text.split()) if each.isprintable())


def as_bytes(notice: Notice, data: Path, complete: Complete = NOTHING_ADDED) -> bytes:
    return json.dumps(alert_body(notice, data, complete), ensure_ascii=False).encode()


class Outcome(NamedTuple):
    """The outcome of sending an alert. `said` is the answer of the receiver. `error` is None on success."""

    error: str | None
    said: str = ""
