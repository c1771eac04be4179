"""Every kind of finding is declared once, and the guide describes each kind as it is declared."""

import re

from tests.support.forked import ROOT
from wmsd.maintenance.doctor.findings import KINDS
from wmsd.maintenance.doctor.fixes import MENDS

PAGE = ROOT / "wmsd" / "docs" / "doctor.md"


def test_names_are_given_once() -> None:
    names = [kind.name for kind in KINDS]
    assert len(set(names)) == len(names)
    assert set(MENDS) <= set(names)


def test_the_guide_has_each_with_its_sentence() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{kind.name}` | {kind.says} |" for kind in KINDS]
    fixed = page.split("`wmsd doctor --fix` fixes ", 1)[1].split(". ", 1)[0]
    assert set(re.findall("`([^`]+)`", fixed)) == set(MENDS)
