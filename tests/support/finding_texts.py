"""The texts that the doctor declares for its findings, and example findings with these texts."""

import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Final

import polib

from tests.support.messages import CATALOGUES
from wmsd.contract.findings import Finding, FindingKind
from wmsd.contract.invariants import Check
from wmsd.db.files.integrity import WORDS
from wmsd.interfaces.pages.kit.text.language import ERROR, PLACES
from wmsd.maintenance.doctor.findings import KINDS
from wmsd.maintenance.file_checks.company_checks import PROMISES, READINGS
from wmsd.maintenance.file_checks.sentences import MORE, SENTENCES
from wmsd.platform.admin_view.findings_file import (
    Diagnosed,
    Examination,
    KeptFinding,
    diagnosis_as_json,
    write_examination,
)

LITERAL = re.compile(r"'([^']*)'")
MOMENT: Final = "2026-11-20T12:00:00.000Z"
TOTAL: Final = "the stored total of a list must equal the number of its records; but articles: 7 instead of 0."
CHOICE = re.compile(r"iif\([^()]*?, '([^']+)', '([^']+)'\)")


def places_of(declared: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(declared) if name is not None]


def declared() -> set[str]:
    """Return the declared texts that contain words, and not only places for values."""
    found = {text for kind in KINDS for text in (kind.says, kind.remedy, *kind.words)}
    found |= {*SENTENCES.values(), MORE, *WORDS, *READINGS, *PROMISES}
    found |= {word for words in PROMISES.values() for word in words}
    return {text for text in found if re.search("[a-z]{2}", PLACES.sub("", text))}


def collected() -> set[str]:
    """Return the texts that belong in the doctor's catalogue.

    The other declared texts are also errors, so the catalogue of errors has them.
    """
    known = {
        each.msgid
        for path in sorted(CATALOGUES.glob("*.po"))
        for each in polib.pofile(str(path))
        if each.msgctxt == ERROR
    }
    return {text for text in declared() if PLACES.sub("{}", text) not in known}


def shown(check: Check) -> Iterator[str]:
    """Yield the texts in the check's SQL that appear in its findings: names of records and values, but no statuses
    or keys.
    """
    sql = check.differing
    yield from (text for text in LITERAL.findall(sql) if re.search(r"[a-z]", text) and " " in text)
    yield from (text for found in CHOICE.findall(sql) for text in found)


def unnamed(check: Check) -> list[str]:
    """Return the texts of `shown` that no declared word of the check contains."""
    return [text for text in shown(check) if not any(text in word for word in check.words)]


def example(kind: FindingKind) -> dict[str, str]:
    """Return example facts for a finding of this kind: a value for each place in its texts, by name."""
    return {name: f"/{name}-{len(name)}" for text in (kind.says, kind.remedy) for name in places_of(text)}


def one_of_each(data: Path) -> list[Finding]:
    """Store an examination with a finding of each kind about the installation, and a wrong total in a file.

    Return the findings about the installation.
    """
    found = [Finding(kind, example(kind)) for kind in KINDS]
    total = KeptFinding(file="ACME", kind="difference", sentence=TOTAL)
    kept = Examination(began_at=MOMENT, ended_at=MOMENT, files=2, wrong=1, findings=[total])
    write_examination(data, kept.with_installation(Diagnosed.model_validate(diagnosis_as_json(found))))
    return found
