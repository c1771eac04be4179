"""Parses a log record from its text. `output.py` describes how a record is written."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from wmsd.base import timestamps
from wmsd.log.output import EXTRA, SHOWN, escape_controls

LEVELS: Final = ("debug", "info", "warning", "error", "critical")
HUMAN: Final = re.compile(
    r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)([+-]\d\d:\d\d)? (debug  |info   |warning|error  |critical) (.*)", re.DOTALL
)
NAMES: Final = {shown: name for name, shown in SHOWN.items()}
"""The names of the fields in a log record. The key is the field's name in a line of text."""
FIELD: Final = re.compile(rf" ({'|'.join(NAMES)})=(\S*)$")
TRACE: Final = "  "
"""The prefix of all lines of a record after the first one, such as the lines of a traceback."""
MOST_TRACE: Final = 500


class LogRecord(NamedTuple):
    """A log record. `text` is the lines to display. `at` and `level` are None if wmsd did not write the line."""

    text: str
    at: datetime | None
    level: str | None
    message: str
    fields: dict[str, str]

    def is_at_least(self, level: str) -> bool:
        return self.level is None or LEVELS.index(self.level) >= LEVELS.index(level)

    def as_json(self) -> dict[str, Any]:
        head: dict[str, Any] = {
            "time": None if self.at is None else timestamps.to_text(self.at),
            "level": self.level,
            "message": self.message,
            **self.fields,
        }
        trace = self.text.split("\n")[1:]
        return {**head, "trace": "\n".join(trace)} if trace else head


def records(lines: Iterable[str | None]) -> Iterator[LogRecord]:
    """Yield the log records in `lines`. The lines have no line ends.

    An item None means that no further line exists yet. In this case, the last record counts as complete.
    """
    waiting: list[str] = []
    for line in lines:
        if line is not None and line.startswith(TRACE) and waiting and len(waiting) < MOST_TRACE:
            waiting.append(line)
            continue
        if waiting:
            yield record_of(waiting)
            waiting = []
        if line is not None:
            waiting = [line]
    if waiting:
        yield record_of(waiting)


def record_of(lines: list[str]) -> LogRecord:
    """Parse the lines of one record.

    Control characters are escaped. So the text in a log file cannot fake lines or move the cursor of the terminal.
    """
    text = "\n".join(map(escape_controls, lines))
    if lines[0].startswith("{"):
        with suppress(ValueError, AttributeError, TypeError):
            return _of_json(json.loads(lines[0]), text)
    found = HUMAN.fullmatch(lines[0])
    if found is None:
        return LogRecord(text, None, None, escape_controls(lines[0]), {})
    moment, offset, level, rest = found.groups()
    level = level.rstrip()
    message, fields = _with_fields(rest)
    return LogRecord(text, _moment(f"{moment}{offset or '+00:00'}"), level, escape_controls(message), fields)


def _of_json(held: dict[str, Any], text: str) -> LogRecord:
    level = held.get("level")
    return LogRecord(
        text,
        _moment(str(held.get("time", ""))),
        level if level in LEVELS else None,
        str(held.get("message", "")),
        {name: str(held[name]) for name in EXTRA if held.get(name) is not None},
    )


def _with_fields(rest: str) -> tuple[str, dict[str, str]]:
    """Split the text of a line into the message and the fields at its end. No field occurs twice."""
    fields: dict[str, str] = {}
    while (found := FIELD.search(rest)) and NAMES[found[1]] not in fields:
        fields[NAMES[found[1]]] = found[2]
        rest = rest[: found.start()]
    return rest, fields


def _moment(text: str) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(text).astimezone(UTC)
    return None
