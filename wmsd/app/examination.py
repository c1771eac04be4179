"""Every file of an installation examined, each by itself: what is wrong with one keeps nobody from the others."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from wmsd.app import clock_watch
from wmsd.app.data_folder import DataFolder
from wmsd.app.doctor import Findings, examine, examine_file
from wmsd.base.steadiness import Known
from wmsd.companies import store as companies
from wmsd.db.company_file import Borrow
from wmsd.db.failures import StorageError
from wmsd.db.integrity import UNREADABLE, opened_to_examine
from wmsd.db.migrations import COMPANY, PLATFORM, FileKind
from wmsd.db.transaction import Transaction

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in a file; or, in `error`, why it cannot be looked at."""

    name: str
    company: str | None
    """Its code; None for `platform.db`, and where that cannot be read."""
    file: Path
    findings: Findings | None = None
    error: str | None = None

    @property
    def is_right(self) -> bool:
        return self.findings is not None and self.findings.are_none


class Examination:
    """Of one data folder. It needs nothing of an installation but its files, and changes nothing in them.

    `borrow` asks the server that has them, where there is one.
    """

    def __init__(self, folder: DataFolder, borrow: Borrow | None = None) -> None:
        self._folder = folder
        self._borrow = borrow

    def platform(self) -> Report:
        path = self._folder.platform_file
        return self._report(path.name, None, path, PLATFORM, examine_file)

    def companies(self) -> dict[int, str] | None:
        """Their codes by id; None where `platform.db` cannot tell them."""
        return self._of_platform(companies.codes)

    def clock(self) -> Known | None:
        """What is known of it; None where nothing is, or `platform.db` cannot tell."""
        return self._of_platform(clock_watch.known)

    def _of_platform(self, read: Callable[[Transaction], Result]) -> Result | None:
        try:
            with self._opened(self._folder.platform_file, PLATFORM) as tx:
                return read(tx)
        except (StorageError, *UNREADABLE):
            return None

    def _opened(self, path: Path, kind: FileKind) -> AbstractContextManager[Transaction]:
        if self._borrow is not None:
            self._borrow(path)
        return opened_to_examine(path, kind)

    def files(self) -> list[int]:
        """The ids of the companies that there are files for."""
        stems = [path.stem for path in self._folder.companies.glob("*.db")]
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def unknown(self, code: str) -> Report:
        path = self._folder.platform_file
        return Report(code, code, path, error=f"{path} cannot be read, so which file is {code}'s is not known.")

    def company(self, company_id: int, code: str | None = None) -> Report:
        path = self._folder.companies / f"{company_id}.db"
        return self._report(code or f"company {company_id}", code, path, COMPANY, examine)

    def _report(
        self, name: str, company: str | None, path: Path, kind: FileKind, look: Callable[[Transaction], Findings]
    ) -> Report:
        try:
            with self._opened(path, kind) as tx:
                return Report(name, company, path, look(tx))
        except StorageError as error:
            return Report(name, company, path, error=" ".join(str(error).split()))
        except UNREADABLE as error:
            return Report(name, company, path, error=f"{path} cannot be examined: {error}.")
