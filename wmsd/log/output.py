"""The log, on standard error or in a file. Each record is one line of text, or one JSON object.

The log contains text from clients. Therefore wmsd escapes characters that begin a line, control a terminal or
change the reading direction.
"""

import io
import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache, partial
from logging.handlers import RotatingFileHandler
from pathlib import Path
from textwrap import indent
from typing import Final, TextIO

from wmsd.base import timestamps
from wmsd.base.machine.regular_files import check_no_database
from wmsd.contract.command_hints import NOTHING_ADDED, Complete
from wmsd.log.line_writer import REQUESTS, GroupedLines, RequestLine
from wmsd.settings.sections.fields import SettingsError
from wmsd.settings.sections.log import Log

SERVE: Final = logging.getLogger("wmsd.serve")
SHOWN: Final = {
    "company_id": "company",
    "user_id": "user",
    "token_id": "token",
    "address": "from",
    "request_id": "request",
}
"""The extra fields of a log record. Each value is the field's name in a line of text."""
EXTRA: Final = (*SHOWN, "status")
UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, line ends, marks that change the reading direction, and single surrogates."""
ENCODED: Final = json.JSONEncoder(ensure_ascii=False).encode
"""The JSON encoder for all lines. It is faster than `json.dumps`, which creates an encoder at each call."""
MEGABYTE: Final = 1_000_000
REMEDY: Final = (
    "Create the folder or mount its disk, allow the user that runs wmsd to write there, or correct {setting}."
)
"""The advice if wmsd cannot write to the folder that the setting `{setting}` names."""
OTHERWISE: Final = "Choose another file, or use '' for standard error."


def escape_controls(text: str) -> str:
    """Return the text on one line, with control characters escaped."""
    return text if text.isprintable() else UNPRINTABLE.sub(lambda found: ascii(found[0])[1:-1], text)


@lru_cache(maxsize=4)
def _to_the_second(seconds: int, is_local: bool) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.astimezone().isoformat(" ") if is_local else f"{moment:%Y-%m-%d %H:%M:%S}"


class LogFormatter(logging.Formatter):
    """The base of both formatters. `complete` adds options such as --data to commands in the messages."""

    def __init__(self, is_local: bool = False, complete: Complete = NOTHING_ADDED) -> None:
        super().__init__()
        self._is_local = is_local
        self._complete = complete


class HumanFormatter(LogFormatter):
    def format(self, record: logging.LogRecord) -> str:
        message = self._complete(record.getMessage())
        text = self._line(record.created, record.levelname.lower(), message, vars(record))
        return f"{text}\n{indent(_trace(self, record), '  ')}" if record.exc_info else text

    def format_request(self, line: RequestLine) -> str:
        return self._line(line.created, "info", line.message, line.fields)

    def _line(self, created: float, level: str, message: str, fields: Mapping[str, object]) -> str:
        text = f"{_to_the_second(int(created), self._is_local)} {level:7} {message}"
        for name, shown in SHOWN.items():
            if (value := fields.get(name)) not in (None, ""):
                text += f" {shown}={value}"
        return escape_controls(text)


class JsonFormatter(LogFormatter):
    def format(self, record: logging.LogRecord) -> str:
        message = self._complete(record.getMessage())
        line = self._object(record.created, record.levelname.lower(), record.name, message, vars(record))
        if record.exc_info:
            line["trace"] = _trace(self, record)
        return ENCODED(line)

    def format_request(self, line: RequestLine) -> str:
        shown = self._object(line.created, "info", REQUESTS.name, line.message, line.fields)
        return ENCODED(shown)

    def _object(
        self, created: float, level: str, logger: str, message: str, fields: Mapping[str, object]
    ) -> dict[str, object]:
        moment = datetime.fromtimestamp(created, UTC)
        line: dict[str, object] = {
            "time": moment.astimezone().isoformat(timespec="milliseconds")
            if self._is_local
            else timestamps.to_text(moment),
            "level": level,
            "logger": logger,
            "message": escape_controls(message),
        }
        for name in EXTRA:
            if (value := fields.get(name)) not in (None, ""):
                line[name] = escape_controls(value) if isinstance(value, str) else value
        return line


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    assert record.exc_info
    return "\n".join(map(escape_controls, formatter.formatException(record.exc_info).split("\n")))


class LogStream(GroupedLines, logging.StreamHandler[TextIO]):
    """The log on standard error."""

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


class LogFile(GroupedLines, RotatingFileHandler):
    """A log file that is rotated when it is full. If a line cannot be written, only that line is lost."""

    def __init__(self, path: Path, most_bytes: int, files_beside: int) -> None:
        """Open the log file. Raise OSError or ValueError if that fails.

        The file is rotated when it has `most_bytes` bytes. `files_beside` is the number of older files to keep.
        """
        super().__init__(path, maxBytes=most_bytes, backupCount=files_beside, encoding="utf-8", delay=True)
        self._is_torn = False
        """True if the file may end in the middle of a line."""
        self.stream = self._opened()

    def _opened(self) -> io.TextIOWrapper:
        """Open the file with access for the owner and the group only, because the log says who requested what."""
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

    def _write(self, text: str) -> None:
        if self.shouldRollover():
            self.doRollover()
        assert self.stream is not None
        self.stream.write(text)
        self.stream.flush()

    def shouldRollover(self, record: logging.LogRecord | None = None) -> bool:  # noqa: N802  (its name)
        """Return True if the file has reached its size limit.

        The standard library's method also formats the next line and adds its length. This method does not, so the
        file can exceed the limit by some lines.
        """
        if self.stream is None:
            self.stream = self._opened()
        return self.stream.seekable() and self.stream.tell() >= self.maxBytes

    def doRollover(self) -> None:  # noqa: N802  (its name)
        super().doRollover()
        self.stream = self._opened()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (its name)
        self._has_failed()

    def _has_failed(self) -> None:
        """Close the file after a failed write. The next line opens it again.

        The file's buffer may still have a part of the failed line. Closing the file removes it from the buffer, so
        that it is not written before the next line.
        """
        self._is_torn = True
        stream, self.stream = self.stream, None
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.close()


def configure(settings: Log, complete: Complete = NOTHING_ADDED) -> None:
    """Set up logging. `complete` adds options such as --data to the commands that messages suggest. Raise
    SettingsError if the file cannot be written.
    """
    handler = _file(settings) if settings.file else LogStream(sys.stderr)
    formatter = JsonFormatter if settings.format == "json" else HumanFormatter
    handler.setFormatter(formatter(settings.local_time, complete))
    logging.basicConfig(level=settings.level.upper(), handlers=[handler], force=True)
    logging.raiseExceptions = False  # on a full disk, a traceback for each unwritten line would not help
    for noisy in ("aiosqlite", "asyncio", "aiohttp.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


@contextmanager
def start_log(settings: Log, complete: Complete = NOTHING_ADDED) -> Iterator[Callable[[], None]]:
    """If the log is a file, also show warnings on the terminal while the server starts.

    Yield a function that the caller calls when the server has started. After this call, the terminal shows no more
    warnings. If an error ends the `with` block, log the error in the file.
    """
    if not settings.file:  # the terminal already shows the log
        yield lambda: None
        return
    terminal = logging.StreamHandler(sys.stderr)
    terminal.addFilter(lambda record: record.levelno >= logging.WARNING)  # request lines ignore levels
    terminal.setFormatter(HumanFormatter(settings.local_time, complete))
    root = logging.getLogger()
    root.addHandler(terminal)
    try:
        yield partial(root.removeHandler, terminal)
    except Exception as error:
        what = "the start failed" if terminal in root.handlers else "the server stops because of an error"
        root.removeHandler(terminal)  # the command prints the error itself
        from wmsd.db.engine.failures import STORAGE_FAILURES, StorageError  # here: the log needs no database

        is_known = isinstance(error, (SettingsError, StorageError, *STORAGE_FAILURES))
        SERVE.error("%s: %s", what, " ".join(str(error).split()), exc_info=None if is_known else error)
        raise
    finally:
        root.removeHandler(terminal)


def flush() -> None:
    """Write the request lines that are still in memory."""
    for handler in logging.getLogger().handlers:
        handler.flush()


def _file(settings: Log) -> logging.Handler:
    path = Path(settings.file)
    remedy = REMEDY.format(setting="log.file")
    if not path.parent.is_dir():
        raise _unwritable(path, f"there is no folder {path.parent}", remedy)
    if not os.access(path.parent, os.W_OK):
        why = f"the folder {path.parent} cannot be written to, so a full file cannot be renamed"
        raise _unwritable(path, why, remedy)
    try:
        if path.is_file() and os.access(path, os.R_OK):
            check_no_database(path)
        return LogFile(path, settings.file_megabytes * MEGABYTE, settings.files - 1)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else None
        raise _unwritable(path, (said or str(error)).lower()) from None


def _unwritable(path: Path, why: str, remedy: str = OTHERWISE) -> SettingsError:
    return SettingsError(f"log.file: {path} cannot be written: {why}. {remedy}")
