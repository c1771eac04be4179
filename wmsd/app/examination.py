"""Every file of an installation examined, each by itself: what is wrong with one keeps nobody from the others."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wmsd.app.data_folder import DataFolder
from wmsd.app.doctor import Findings, examine, examine_file
from wmsd.companies import store as companies
from wmsd.db.failures import StorageError
from wmsd.db.integrity import UNREADABLE, opened_to_examine
from wmsd.db.migrations import COMPANY, PLATFORM, FileKind
from wmsd.db.transaction import Transaction


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
    """Of one data folder. It needs nothing of a site but its files, and changes nothing in them."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder

    def platform(self) -> Report:
        path = self._folder.platform_file
        return _report(path.name, None, path, PLATFORM, examine_file)

    def companies(self) -> dict[int, str] | None:
        """Their codes by id; None where `platform.db` cannot tell them."""
        try:
            with opened_to_examine(self._folder.platform_file, PLATFORM) as tx:
                return companies.codes(tx)
        except (StorageError, *UNREADABLE):
            return None

    def files(self) -> list[int]:
        """The ids of the companies that there are files for."""
        stems = [path.stem for path in self._folder.companies.glob("*.db")]
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def unknown(self, code: str) -> Report:
        path = self._folder.platform_file
        return Report(code, code, path, error=f"{path} cannot be read, so which file is {code}'s is not known.")

    def company(self, company_id: int, code: str | None = None) -> Report:
        path = self._folder.companies / f"{company_id}.db"
        return _report(code or f"company {company_id}", code, path, COMPANY, examine)


def _report(
    name: str, company: str | None, path: Path, kind: FileKind, look: Callable[[Transaction], Findings]
) -> Report:
    try:
        with opened_to_examine(path, kind) as tx:
            return Report(name, company, path, look(tx))
    except StorageError as error:
        return Report(name, company, path, error=" ".join(str(error).split()))
    except UNREADABLE as error:
        return Report(name, company, path, error=f"{path} cannot be examined: {error}.")
