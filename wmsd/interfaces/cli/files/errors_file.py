"""The file for the errors of an import, which `--errors` names."""

import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Final

from wmsd.imports.errors import Wrong, write_errors
from wmsd.interfaces.cli.kit.command_line import fail

REFUSED: Final = (
    "--errors names the file that is imported, which would be overwritten. Name another file.",
    "Nothing was imported.",
)


def refuse_the_same(path: Path, file: IO[bytes]) -> None:
    """Ends the command when the errors would overwrite the file that is imported, by whatever name or link."""
    try:
        read, written = os.fstat(file.fileno()), path.stat()
    except (OSError, ValueError):  # no such file yet, or the input is none
        return
    if stat.S_ISREG(read.st_mode) and os.path.samestat(read, written):
        fail(REFUSED)


def begin_errors_file(path: Path) -> None:
    """Leaves no errors of an earlier run, as this one may end before it knows its own; and a file that cannot be
    written is told before anything is done. Raises OSError.
    """
    if path.is_file() or not path.exists():  # such as /dev/stdout is written once, at the end
        write_whole([], path)


def write_whole(errors: Iterable[Wrong], path: Path, more: int = 0) -> None:
    """The whole file, or what was there before. `more`: how many errors were only counted. Raises OSError."""
    path = path.resolve()  # a link stays one
    if path.exists() and not path.is_file():  # such as /dev/stdout
        with path.open("w", encoding="utf-8", newline="") as file:
            write_errors(errors, file, more)
        return
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.new")
    try:
        with beside.open("x", encoding="utf-8", newline="") as file:
            if path.exists():
                beside.chmod(stat.S_IMODE(path.stat().st_mode))
            write_errors(errors, file, more)
        beside.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None  # named as people know it
    finally:
        beside.unlink(missing_ok=True)
