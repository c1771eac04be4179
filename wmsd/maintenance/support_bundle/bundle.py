"""Writes a bundle: each part by itself, so that one that cannot be made does not keep the others away."""

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
FAILED: Final = " It could not be found out."
README: Final = "README.txt"
NEVER: Final = (
    "Not in it: rows of companies, passwords, tokens, keys, secrets of webhooks and of providers, and the\n"
    "content of files that the settings name. In every text, what looks like a secret or an e-mail address,\n"
    "and what stands after the ? of an address, has been taken out.\n"
)
READ_IT: Final = "Read it before you send it: whoever gets it knows what this machine and installation are like."


@dataclass(frozen=True, slots=True)
class Part:
    """`make` returns a text, or what is written as JSON."""

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
    """Whatever goes wrong is what the bundle is for, so it is told in the place of the part."""
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
        text = f"This could not be found out. {error}\n"
    content = text.encode("utf-8", "replace")
    if len(content) > MOST_BYTES:
        content = content[:MOST_BYTES] + CUT.encode()
    return Made(part.name, part.says, content, error)


def _in_words(failed: Exception) -> str:
    """Our own sentences as they are, and the system's with the file; others with their kind, for developers."""
    match failed:
        case StorageError():
            return str(failed)
        case OSError(filename=file, strerror=str(reason)) if file:
            return f"{file}: {reason.lower()}."
    return f"{type(failed).__name__}: {failed}"


def write(file: Path, parts: Sequence[Made], names: str, now: datetime) -> None:
    """A .tar.gz that only its owner may read. `names` says how companies are named. Raises OSError, such as
    FileExistsError.
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
            file.unlink()  # nobody is to send a part of it
            raise


def _readme(parts: Sequence[Made], names: str, now: datetime) -> str:
    width = max(len(each.name) for each in parts)
    lines = [f"{each.name:<{width}}  {each.says}{'' if each.error is None else FAILED}" for each in parts]
    return "\n".join(
        [
            f"A support bundle of wmsd {__version__}, made at {timestamps.to_text(now)}.",
            "",
            *lines,
            "",
            names,
            NEVER,
            READ_IT,
            "",
        ]
    )
