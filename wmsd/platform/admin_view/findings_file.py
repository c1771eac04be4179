"""The findings of the last examination by doctor, in a file of the data folder. They survive a restart."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from wmsd.base.machine.json_file import StoredModel, find_in_json_file, write_json_file
from wmsd.contract.findings import Severity
from wmsd.maintenance.file_checks.sentences import Finding, Kind, findings_of_file

if TYPE_CHECKING:
    from wmsd.contract.findings import Finding as InstallationFinding
    from wmsd.maintenance.doctor.examine import Report

FILE: Final = "examination.json"
MOST_OF_FILE: Final = 50
MOST_KEPT: Final = 500
LONGEST: Final = 500
"""The maximum number of characters of a sentence. A longer sentence is cut off, because a damaged file may contain
anything.
"""


class KeptFinding(StoredModel):
    file: str
    """The code of the company, or platform.db."""
    kind: Kind
    sentence: str


class KeptDiagnosis(StoredModel):
    """A finding about the installation. `check` is the name of its kind."""

    check: str
    severity: Severity
    sentence: str
    remedy: str
    is_mended_by_fix: bool = False


class Diagnosed(StoredModel):
    installation: list[KeptDiagnosis]


class Examined(StoredModel):
    """The findings in one file. `more` is the number of further findings that are left out."""

    findings: list[KeptFinding] = []
    more: int = 0
    rows: int = 0


class Examination(StoredModel):
    """An examination by doctor. If it was interrupted, `ended_at` is None and `error` is the reason."""

    began_at: str
    ended_at: str | None = None
    files: int = 0
    """The number of examined files."""
    wrong: int = 0
    """The number of examined files with an error."""
    rows: int = 0
    findings: list[KeptFinding] = []
    more: int = 0
    error: str | None = None
    installation: list[KeptDiagnosis] = []

    @property
    def is_wrong(self) -> bool:
        """True if the examination has found an error, not only warnings."""
        return self.wrong > 0 or any(each.severity == "wrong" for each in self.installation)

    def with_file(self, examined: Examined) -> Self:
        room = MOST_KEPT - len(self.findings)
        kept = examined.findings[:room]
        update: dict[str, Any] = {
            "files": self.files + 1,
            "wrong": self.wrong + bool(examined.findings),
            "findings": [*self.findings, *kept],
            "more": self.more + examined.more + len(examined.findings) - len(kept),
            "rows": self.rows + examined.rows,
        }
        return self.model_copy(update=update)

    def with_installation(self, diagnosed: Diagnosed) -> Self:
        return self.model_copy(update={"installation": diagnosed.installation[:MOST_KEPT]})


def report_as_json(report: "Report") -> dict[str, Any]:
    """Return the result of examining a file, as JSON that `Examined` reads."""
    found = (
        [Finding("error", report.error or "")]
        if report.findings is None
        else list(findings_of_file(report.findings))
    )
    written = [KeptFinding(file=report.name, kind=each.kind, sentence=_cut(each.sentence)) for each in found]
    rows = 0 if report.findings is None else report.findings.rows
    return Examined(
        findings=written[:MOST_OF_FILE], more=max(0, len(written) - MOST_OF_FILE), rows=rows
    ).model_dump()


def diagnosis_as_json(found: "Iterable[InstallationFinding]") -> dict[str, Any]:
    """Return the findings about the installation, as JSON that `Diagnosed` reads."""
    from wmsd.maintenance.doctor.fixes import fix_sentence  # imported only here: a server just reads findings

    written = [
        KeptDiagnosis(
            check=each.kind.name,
            severity=each.kind.severity,
            sentence=_cut(each.sentence),
            remedy=_cut(each.remedy),
            is_mended_by_fix=fix_sentence(each) is not None,
        )
        for each in found
    ]
    return Diagnosed(installation=written).model_dump()


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def read_examination(data: Path) -> Examination | None:
    """Return the last examination, or None if there is no file that can be read."""
    return find_in_json_file(data / FILE, Examination)


def write_examination(data: Path, kept: Examination) -> None:
    """Write the examination to its file. Raise OSError if this fails."""
    write_json_file(data / FILE, kept)
