"""What later backups beside an archive say of the numbers that were given after it."""

from pathlib import Path
from typing import Final

from wmsd.data_folder.numbers import Numbers, numbers_up_to
from wmsd.db.engine.high_water_mark import HighWaterMark
from wmsd.maintenance.backups.archive import readable_manifests
from wmsd.maintenance.backups.manifest import Manifest

MOST_READ: Final = 100


class LaterBackups:
    """The newest backups of the installation in the folder of an archive that were made after it. One that cannot
    be read says nothing.
    """

    def __init__(self, archive: Path, manifest: Manifest) -> None:
        self._marks: dict[int, list[HighWaterMark]] = {}
        for _, later in readable_manifests(_newest_files(archive.absolute().parent)):
            if later.installation == manifest.installation and later.began_at > manifest.began_at:
                self._add(later)

    def _add(self, manifest: Manifest) -> None:
        for file in manifest.files:
            if file.company_id is not None:
                mark = HighWaterMark(file.figures.last_change or 0, file.figures.last_event or 0)
                self._marks.setdefault(file.company_id, []).append(mark)

    def raised(self, numbers: Numbers, company_id: int | None) -> Numbers:
        """The numbers of a company's file, with those that it must have given."""
        for mark in self._marks.get(company_id or 0, []):
            numbers = numbers_up_to(numbers, mark)
        return numbers


def _newest_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.tar.gz"), key=lambda path: path.stat().st_mtime, reverse=True)[:MOST_READ]
