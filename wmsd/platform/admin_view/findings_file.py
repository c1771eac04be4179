"""The findings of the last examination by doctor: a file in the data folder, so that they outlive a restart."""

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
"""Characters of a sentence: a file that is damaged may say anything."""


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
    """What was found in one file. `more` were found than are told."""

    findings: list[KeptFinding] = []
    more: int = 0
    rows: int = 0


class Examination(StoredModel):
    """`ended_at` is None where it was broken off, for the reason in `error`."""

    began_at: str
    ended_at: str | None = None
    files: int = 0
    """That were examined."""
    wrong: int = 0
    """Of these."""
    rows: int = 0
    findings: list[KeptFinding] = []
    more: int = 0
    error: str | None = None
    installation: list[KeptDiagnosis] = []

    @property
    def is_wrong(self) -> bool:
        """Whether it has found more than warnings."""
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
    """What is told of a file, as Examined reads it."""
    found = (
        [Finding("error", report.error or "")]
        if report.findings is None
        else list(findings_of_file(report.findings))
    )
    told = [KeptFinding(file=report.name, kind=each.kind, sentence=_cut(each.sentence)) for each in found]
    rows = 0 if report.findings is None else report.findings.rows
    return Examined(findings=told[:MOST_OF_FILE], more=max(0, len(told) - MOST_OF_FILE), rows=rows).model_dump()


def diagnosis_as_json(found: "Iterable[InstallationFinding]") -> dict[str, Any]:
    """What is told of the installation, as Diagnosed reads it."""
    from wmsd.maintenance.doctor.fixes import mend_of  # imported here: a server only reads what was found

    told = [
        KeptDiagnosis(
            check=each.kind.name,
            severity=each.kind.severity,
            sentence=_cut(each.sentence),
            remedy=_cut(each.remedy),
            is_mended_by_fix=mend_of(each) is not None,
        )
        for each in found
    ]
    return Diagnosed(installation=told).model_dump()


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def read_examination(data: Path) -> Examination | None:
    """None when there is none that can be read."""
    return find_in_json_file(data / FILE, Examination)


def write_examination(data: Path, kept: Examination) -> None:
    """Raises OSError."""
    write_json_file(data / FILE, kept)
