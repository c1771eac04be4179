"""The findings of the last examination by doctor: a file in the data folder, so that they outlive a restart."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from wmsd.app.findings import Finding, Kind, findings

if TYPE_CHECKING:
    from wmsd.app.examination import Report

FILE: Final = "examination.json"
PLATFORM: Final = "platform.db"
MOST_OF_FILE: Final = 50
MOST_KEPT: Final = 500
LONGEST: Final = 500
"""Characters of a sentence: a file that is damaged may say anything."""


class Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class KeptFinding(Part):
    file: str
    """The code of the company, or platform.db."""
    kind: Kind
    sentence: str


class Examined(Part):
    """What was found in one file. `more` were found than are told."""

    findings: list[KeptFinding] = []
    more: int = 0


class Examination(Part):
    """`ended_at` is None where it was broken off, for the reason in `error`."""

    began_at: str
    ended_at: str | None = None
    files: int = 0
    """That were examined."""
    wrong: int = 0
    """Of these."""
    findings: list[KeptFinding] = []
    more: int = 0
    error: str | None = None

    def with_file(self, examined: Examined) -> Self:
        room = MOST_KEPT - len(self.findings)
        kept = examined.findings[:room]
        update: dict[str, Any] = {
            "files": self.files + 1,
            "wrong": self.wrong + bool(examined.findings),
            "findings": [*self.findings, *kept],
            "more": self.more + examined.more + len(examined.findings) - len(kept),
        }
        return self.model_copy(update=update)


def examined(report: "Report") -> dict[str, Any]:
    """What is told of a file, as Examined reads it."""
    found = [Finding("error", report.error or "")] if report.findings is None else list(findings(report.findings))
    told = [KeptFinding(file=report.name, kind=each.kind, sentence=_cut(each.sentence)) for each in found]
    return Examined(findings=told[:MOST_OF_FILE], more=max(0, len(told) - MOST_OF_FILE)).model_dump()


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def read_examination(data: Path) -> Examination | None:
    """None when there is none that can be read."""
    try:
        return Examination.model_validate_json((data / FILE).read_bytes())
    except (OSError, ValidationError):
        return None


def write_examination(data: Path, kept: Examination) -> None:
    """Raises OSError."""
    unfinished = data / f"{FILE}.new"
    with unfinished.open("w", encoding="utf-8") as file:
        file.write(kept.model_dump_json(indent=1))
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(data / FILE)
