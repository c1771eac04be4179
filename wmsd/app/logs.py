"""The log, on standard error or in a file: one line of text, or one JSON object, for each record.

It contains text that others sent. So characters that begin a line, control a terminal or change the reading
direction are written as escapes.
"""

import io
import json
import logging
import os
import re
import sys
from contextlib import suppress
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from textwrap import indent
from typing import Final

from wmsd.app.settings import Log, SettingsError
from wmsd.base import timestamps

SHOWN: Final = {
    "company_id": "company",
    "user_id": "user",
    "token_id": "token",
    "address": "from",
    "request_id": "request",
}
"""The extra fields of a record, and their names in a line of text."""
EXTRA: Final = (*SHOWN, "status")
UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, line ends, marks that change the reading direction, and single surrogates."""
MEGABYTE: Final = 1_000_000


def escaped(text: str) -> str:
    """The text on one line, without control characters."""
    if text.isprintable():
        return text
    return UNPRINTABLE.sub(lambda found: ascii(found[0])[1:-1], text)


class HumanFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        text = f"{moment:%Y-%m-%d %H:%M:%S} {record.levelname.lower():7} {record.getMessage()}"
        for name, shown in SHOWN.items():
            if (value := getattr(record, name, None)) not in (None, ""):
                text += f" {shown}={value}"
        text = escaped(text)
        return f"{text}\n{indent(_trace(self, record), '  ')}" if record.exc_info else text


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": timestamps.to_text(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": escaped(record.getMessage()),
        }
        for name in EXTRA:
            if (value := getattr(record, name, None)) not in (None, ""):
                line[name] = escaped(value) if isinstance(value, str) else value
        if record.exc_info:
            line["trace"] = _trace(self, record)
        return json.dumps(line, ensure_ascii=False)


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    """The traceback, with its own line breaks."""
    assert record.exc_info
    return "\n".join(map(escaped, formatter.formatException(record.exc_info).split("\n")))


class LogFile(RotatingFileHandler):
    """A log file that is rotated when it is full. A line that cannot be written is lost, and nothing else."""

    def __init__(self, path: Path, most_bytes: int, files_beside: int) -> None:
        """Raises OSError and ValueError."""
        super().__init__(path, maxBytes=most_bytes, backupCount=files_beside, encoding="utf-8", delay=True)
        self._is_torn = False
        """Whether the file may end in the middle of a line."""
        self.stream = self._opened()

    def _opened(self) -> io.TextIOWrapper:
        """Opens the file for the owner and the group only, because it says who requested what."""
        stream = open(  # noqa: SIM115  (the handler closes it)
            self.baseFilename,
            "a",
            encoding=self.encoding,
            errors=self.errors,
            opener=lambda path, flags: os.open(path, flags, 0o640),
        )
        if self._is_torn:
            stream.write("\n")
        self._is_torn = False
        return stream

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802  (its name)
        """Uses the present size: the library's own way formats each line twice. A file can be a line too long."""
        if self.stream is None:
            self.stream = self._opened()
        return self.stream.seekable() and self.stream.tell() >= self.maxBytes

    def doRollover(self) -> None:  # noqa: N802  (its name)
        super().doRollover()
        self.stream = self._opened()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (its name)
        """Opens the file anew for the next line. Otherwise the unwritten rest would be tried again before it."""
        self._is_torn = True
        stream, self.stream = self.stream, None
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.close()


def configure(settings: Log) -> None:
    """Sets up logging. Raises SettingsError when the file cannot be written."""
    handler = _file(settings) if settings.file else logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if settings.format == "json" else HumanFormatter())
    logging.basicConfig(level=settings.level.upper(), handlers=[handler], force=True)
    logging.raiseExceptions = False  # on a full disk, a traceback for each unwritten line helps nobody
    for noisy in ("aiosqlite", "asyncio", "aiohttp.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _file(settings: Log) -> logging.Handler:
    path = Path(settings.file)
    if not os.access(path.parent, os.W_OK) and path.parent.is_dir():
        raise _unwritable(path, f"the folder {path.parent} cannot be written to, so a full file cannot be renamed")
    try:
        return LogFile(path, settings.file_megabytes * MEGABYTE, settings.files - 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise _unwritable(path, (why or str(error)).lower()) from None


def _unwritable(path: Path, why: str) -> SettingsError:
    return SettingsError(
        f"log.file: {path} cannot be written: {why}. Choose another file, or standard error with ''."
    )
