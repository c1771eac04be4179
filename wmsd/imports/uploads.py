"""Stores uploaded files, each in a separate folder below the data folder.

In this folder, `file` is the uploaded file, and `about.json` its description. `preview.json` and `errors.csv` have
the result of the preview. `said` has the standard error output of the command that previews or imports the file.
An upload is deleted after one day, or when its company has `MOST_OF_A_COMPANY` newer uploads.
"""

import json
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, field
from pathlib import Path
from typing import Any, Final, Literal

from wmsd.base.dataclass import dataclass
from wmsd.base.machine.private_files import new_private
from wmsd.base.problems import not_found
from wmsd.host.one_file.failure_messages import sentence_of

State = Literal["sent", "looking", "looked", "importing", "imported", "failed"]
ID: Final = re.compile(r"[0-9A-Za-z_-]{22}", re.ASCII)
MOST_OF_A_COMPANY: Final = 5
KEPT_SECONDS: Final = 24 * 3600.0
LONGEST_SAID: Final = 64 * 1024
BROKEN_OFF: Final = "The import was interrupted. Nothing was changed: repeat the import."
SAID: Final = "wmsd: "
"""Each error sentence in the output of a failed command begins with this text."""
TOLD: Final = "rows "
"""Each line of the command's output that reports progress begins with this text. After it come the number of
finished rows and the number of all rows.
"""


@dataclass(slots=True)
class About:
    """The description of an upload. `by` is the name of the user, and `at` the time of the upload. `choices` are
    the parts of the file's format that the user has chosen. `options` are the import options that the kind of file
    has.
    """

    kind: str = ""
    file_name: str = ""
    bytes: int = 0
    by: str = ""
    user_id: int | None = None
    at: str = ""
    state: State = "sent"
    message: str = ""
    choices: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Upload:
    id: str
    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "file"

    @property
    def preview_file(self) -> Path:
        return self.folder / "preview.json"

    @property
    def errors_file(self) -> Path:
        return self.folder / "errors.csv"

    @property
    def said_file(self) -> Path:
        return self.folder / "said"

    def about(self) -> About:
        return About(**json.loads((self.folder / "about.json").read_text(encoding="utf-8")))

    def write(self, about: About) -> None:
        """Replace `about.json` in one step, so that readers find either the old or the new content."""
        beside = self.folder / "about.new"
        beside.unlink(missing_ok=True)
        with new_private(beside) as file:
            file.write(json.dumps(asdict(about)).encode())
        beside.rename(self.folder / "about.json")

    def preview(self) -> dict[str, Any] | None:
        with suppress(OSError, ValueError):
            found: dict[str, Any] = json.loads(self.preview_file.read_text(encoding="utf-8"))
            return found
        return None

    def errors(self) -> str | None:
        """Return the content of the file of errors, or None if there is no such file. Raise OSError if it cannot
        be read.

        The file has at most `MOST_ERRORS` rows, with shortened cells.
        """
        with suppress(FileNotFoundError):
            return self.errors_file.read_bytes().decode(errors="replace")
        return None

    def said(self) -> list[str]:
        """Return the last lines of the command's error output."""
        return last_lines(self.said_file)

    def progress(self) -> tuple[int, int] | None:
        """Return the numbers of finished rows and of all rows, or None if no progress was reported yet."""
        for line in reversed(self.said()):
            numbers = line.removeprefix(TOLD).split() if line.startswith(TOLD) else []
            if len(numbers) == 2 and all(each.isdecimal() for each in numbers):
                return int(numbers[0]), int(numbers[1])
        return None

    def failure(self) -> str:
        """Return the sentences that say why the command failed."""
        said = self.said()
        if refused := sentence_of(said):
            return refused
        return " ".join(sentences_of(said)[:10]) or BROKEN_OFF


class Uploads:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def make(self, company_id: int, about: About) -> Upload:
        """Create an upload, and delete the company's uploads that are too old or too many. Raise OSError if
        creating files fails.
        """
        place = self._folder / str(company_id)
        for folder in (self._folder, place):
            folder.mkdir(mode=0o700, exist_ok=True)
        self._forget(place)
        upload_id = secrets.token_urlsafe(16)
        upload = Upload(upload_id, place / upload_id)
        upload.folder.mkdir(mode=0o700)
        upload.write(about)
        return upload

    def find(self, company_id: int, upload_id: str) -> Upload:
        """Return an upload. Raise Problem (404) if there is no such upload."""
        folder = self._folder / str(company_id) / upload_id
        if not ID.fullmatch(upload_id) or not (folder / "about.json").exists():
            raise not_found("upload")
        return Upload(upload_id, folder)

    def forget(self, upload: Upload) -> None:
        shutil.rmtree(upload.folder, ignore_errors=True)

    def bytes_of(self, company_id: int) -> int:
        """Return the number of bytes of all files of the company's uploads."""
        files = (self._folder / str(company_id)).rglob("*")
        return sum(size for file in files if (size := _size(file)) is not None)

    def forget_old(self) -> None:
        if self._folder.exists():
            for place in self._folder.iterdir():
                self._forget(place, MOST_OF_A_COMPANY)

    def _forget(self, place: Path, most: int = MOST_OF_A_COMPANY - 1) -> None:
        newest = sorted(_moments(place), reverse=True)
        until = time.time() - KEPT_SECONDS
        for number, (moment, folder) in enumerate(newest):
            if number >= most or moment < until:
                shutil.rmtree(folder, ignore_errors=True)


def _size(file: Path) -> int | None:
    """Return the size of a regular file in bytes, or None for a folder or a deleted file."""
    with suppress(OSError):
        found = file.lstat()
        return found.st_size if stat.S_ISREG(found.st_mode) else None
    return None


def last_lines(said_file: Path) -> list[str]:
    """Return the last lines of the output in `said_file`, at most `LONGEST_SAID` bytes, or an empty list if the
    file cannot be read.
    """
    try:
        with said_file.open("rb") as file:
            file.seek(max(0, said_file.stat().st_size - LONGEST_SAID))
            return file.read().decode(errors="replace").splitlines()
    except OSError:
        return []


def sentences_of(said: Iterable[str]) -> list[str]:
    """Return the sentences in a command's output that say why the command failed."""
    return [each.removeprefix(SAID) for each in said if each.startswith(SAID)]


def _moments(place: Path) -> Iterator[tuple[float, Path]]:
    for folder in place.iterdir():
        with suppress(OSError):
            yield folder.stat().st_mtime, folder
