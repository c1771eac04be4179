"""The writing of a support bundle. Each part is created separately, so that a part that fails does not affect the
others.
"""

import io
import json
import tarfile
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from wmsd import __version__
from wmsd.base import timestamps
from wmsd.base.dataclass import dataclass
from wmsd.base.machine.private_files import new_private
from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.support_bundle.redaction import Hiding

MOST_BYTES: Final = 8 * 1024 * 1024
CUT: Final = "\n(The rest is left out: it is too long.)\n"
FAILED: Final = " This part could not be created."
README: Final = "README.txt"
NEVER: Final = (
    "The bundle does not contain: rows of companies, passwords, tokens, keys, secrets of webhooks "
    "and of\nproviders, and the content of files that the settings name. wmsd has removed from every "
    "text whatever\nlooks like a secret or an e-mail address, and everything after the ? of a URL.\n"
)
READ_IT: Final = "Read the bundle before you send it: it describes this machine and this installation."


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the bundle. `make` returns a text, or a value that is written as JSON."""

    name: str
    says: str
    make: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Made:
    name: str
    says: str
    content: bytes
    error: str | None = None


def made(part: Part, hiding: Hiding) -> Made:
    """Create a part of the bundle. `hiding` removes the secrets from it.

    If that fails, return a part with the error, because the bundle must report errors.
    """
    try:
        found = part.make()
        text = (
            hiding.text(found)
            if isinstance(found, str)
            else json.dumps(hiding.json(found), ensure_ascii=False, indent=1, default=str) + "\n"
        )
        error = None
    except Exception as failed:
        error = hiding.text(_in_words(failed))
        text = f"This part could not be created. {error}\n"
    content = text.encode("utf-8", "replace")
    if len(content) > MOST_BYTES:
        content = content[:MOST_BYTES] + CUT.encode()
    return Made(part.name, part.says, content, error)


def _in_words(failed: Exception) -> str:
    """Return an error as text: the message of a wmsd error, or the file and the reason of a system error. For any
    other error, the text has its type and its message.
    """
    match failed:
        case StorageError():
            return str(failed)
        case OSError(filename=file, strerror=str(reason)) if file:
            return f"{file}: {reason.lower()}."
    return f"{type(failed).__name__}: {failed}"


def write(file: Path, parts: Sequence[Made], names: str, now: datetime) -> None:
    """Write a .tar.gz file that only its owner may read. `names` is a text for the README that says how the bundle
    names companies.

    Raise OSError if that fails, and FileExistsError if the file exists.
    """
    folder = file.name.removesuffix(".tar.gz")
    readme = Made(README, "", _readme(parts, names, now).encode())
    with new_private(file) as opened:
        try:
            with tarfile.open(fileobj=opened, mode="w:gz") as archive:
                for each in (readme, *parts):
                    entry = tarfile.TarInfo(f"{folder}/{each.name}")
                    entry.size, entry.mode, entry.mtime = len(each.content), 0o600, int(time.time())
                    archive.addfile(entry, io.BytesIO(each.content))
            opened.flush()
        except OSError:
            file.unlink()  # an incomplete bundle must not be sent
            raise


def _readme(parts: Sequence[Made], names: str, now: datetime) -> str:
    width = max(len(each.name) for each in parts)
    lines = [f"{each.name:<{width}}  {each.says}{'' if each.error is None else FAILED}" for each in parts]
    return "\n".join(
        [
            f"A support bundle of wmsd {__version__}, created at {timestamps.to_text(now)}.",
            "",
            *lines,
            "",
            names,
            NEVER,
            READ_IT,
            "",
        ]
    )
