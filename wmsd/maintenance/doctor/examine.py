"""The examination of the files of an installation, one by one. Damage in one file does not stop the others."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TypeVar

from wmsd.base import timestamps
from wmsd.base.dataclass import dataclass
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.file_owner import Owner, WrongOwner
from wmsd.db.engine.high_water_mark import HighWaterMark, read_mark
from wmsd.db.engine.transaction import Transaction
from wmsd.db.files.company_file import Borrow
from wmsd.db.files.integrity import UNREADABLE, missing_end, opened_to_examine
from wmsd.db.files.read_only_copy import opened_without_writing
from wmsd.db.migrations import COMPANY, PLATFORM, FileKind, only_by_a_server
from wmsd.maintenance.doctor.folder_files import swapped_with
from wmsd.maintenance.file_checks.company_checks import (
    IS_NEWEST,
    LAST_CHANGE,
    Difference,
    Findings,
    examine,
    examine_file,
)
from wmsd.tenants.companies import store as companies

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of a file. If the file cannot be examined, `findings` is None and `error` is the reason."""

    name: str
    company: str | None
    """The company's code. None for `platform.db`, and if the code cannot be read."""
    file: Path
    findings: Findings | None = None
    error: str | None = None

    @property
    def is_right(self) -> bool:
        return self.findings is not None and self.findings.are_none


def _older(tx: Transaction, mark: HighWaterMark | None) -> Iterator[Difference]:
    """Yield a difference if the file lacks the last change that platform.db has recorded as `mark`: the file is an
    older copy.
    """
    with suppress(*UNREADABLE):
        if mark is not None and (found := read_mark(tx)).last_change < mark.last_change:
            yield Difference(
                IS_NEWEST,
                LAST_CHANGE.format(found=found.last_event, noted=mark.last_event),
                timestamps.from_microseconds(mark.last_change),
                timestamps.from_microseconds(found.last_change),
            )


class Examination:
    """The examination of one data folder. It needs only the files, not an opened installation, and writes nothing.

    `borrow` asks the running server to share a file. It is None if no server is running.
    """

    def __init__(self, folder: DataFolder, borrow: Borrow | None = None) -> None:
        self._folder = folder
        self._borrow = borrow
        self._installation: str | None = None
        """The installation's id, as its files contain it. None until it is known."""
        self.marks: dict[int, HighWaterMark] = {}
        """The high-water marks of the companies' files in `platform.db`, by company id."""
        self.codes: dict[int, str] | None = None
        """The companies' codes by id. None until `companies` has read them, or if they cannot be read."""

    @property
    def is_beside_a_server(self) -> bool:
        return self._borrow is not None

    def platform(self) -> Report:
        path = self._folder.platform_file
        return self._report(path.name, None, path, PLATFORM, examine_file)

    def companies(self) -> dict[int, str] | None:
        """Read the companies' codes by id. Return None if `platform.db` cannot be read."""
        self._installation = self.read_platform(companies.installation)
        self.marks = self.read_platform(companies.marks) or {}
        self.codes = self.read_platform(companies.codes)
        return self.codes

    def read_platform(self, read: Callable[[Transaction], Result]) -> Result | None:
        """Call `read` with a transaction on `platform.db`, and return its result. Return None if the file cannot
        be read.
        """
        try:
            self._get(self._folder.platform_file)
            with self._opened(self._folder.platform_file, PLATFORM, None) as tx:
                return read(tx)
        except (StorageError, *UNREADABLE):
            return None

    def own_file(self, company_id: int) -> Path:
        """Return the path of the company's file. If a server is running, first ask the server to share the file.

        Raise StorageError if the server does not share it.
        """
        path = self._folder.companies / f"{company_id}.db"
        self._get(path)
        return path

    def read_company(
        self, company_id: int, code: str | None, read: Callable[[Transaction], Result]
    ) -> Result | None:
        """Call `read` with a transaction on the company's file, and return its result. Return None if the file
        cannot be read.
        """
        try:
            path = self.own_file(company_id)
            with self._opened(path, COMPANY, self._owner(company_id, code)) as tx:
                return read(tx)
        except (StorageError, *UNREADABLE):
            return None

    def _owner(self, company_id: int, code: str | None) -> Owner | None:
        name = code or f"company {company_id}"
        return None if self._installation is None else Owner(self._installation, company_id, name)

    def _get(self, path: Path) -> None:
        if self._borrow is not None:
            self._borrow(path)

    def _opened(self, path: Path, kind: FileKind, owner: Owner | None) -> AbstractContextManager[Transaction]:
        if self._borrow is None:
            return opened_without_writing(path, kind, owner)
        return opened_to_examine(path, kind, owner, only_by_a_server)

    def known_companies(self) -> list[tuple[int, str | None]]:
        """Return the companies' ids and codes. If `platform.db` cannot be read, return the ids of the companies
        that have a file.
        """
        if self.codes is not None:
            return [*self.codes.items()]
        stems = [path.stem for path in self._folder.companies.glob("*.db")]
        return [(company_id, None) for company_id in sorted(int(stem) for stem in stems if stem.isdecimal())]

    def unknown(self, code: str) -> Report:
        path = self._folder.platform_file
        return Report(
            code,
            code,
            path,
            error=f"{path} cannot be read, so wmsd does not know which file belongs to the company {code}.",
        )

    def company(self, company_id: int, code: str | None = None) -> Report:
        path = self._folder.companies / f"{company_id}.db"
        name = code or f"company {company_id}"
        owner = self._owner(company_id, code)
        mark = self.marks.get(company_id)

        def look(tx: Transaction) -> Findings:
            findings = examine(tx)
            findings.differences += _older(tx, mark)
            return findings

        return self._report(name, code, path, COMPANY, look, owner)

    def _report(
        self,
        name: str,
        company: str | None,
        path: Path,
        kind: FileKind,
        look: Callable[[Transaction], Findings],
        owner: Owner | None = None,
    ) -> Report:
        try:
            self._get(path)
            missing = missing_end(path)
            with self._opened(path, kind, owner) as tx:
                findings = look(tx)
            findings.damages[:0] = missing
            return Report(name, company, path, findings)
        except WrongOwner as error:
            other = None if owner is None else swapped_with(self._folder.companies, owner.company_id)
            if other is None:
                return Report(name, company, path, error=" ".join(str(error).split()))
            return Report(
                name,
                company,
                path,
                error=f"{path} is the file of {other.code}: the files of the two companies are swapped.",
            )
        except StorageError as error:
            return Report(name, company, path, error=" ".join(str(error).split()))
        except UNREADABLE as error:
            return Report(name, company, path, error=f"{path} cannot be examined: {error}.")
