"""Tests of versions: a development version never has the name of a release, and each release is stored for the
tests.
"""

import re
from pathlib import Path
from typing import Final

from wmsd import __version__

ROOT: Final = Path(__file__).parents[1]
SECTIONS: Final = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.partition("-")[0].split("."))


def test_the_version_says_whether_it_is_released() -> None:
    released = [section for section in SECTIONS if section != "Unreleased"]
    if SECTIONS[0] == "Unreleased":
        assert __version__.endswith("-dev")
        assert numbers(__version__) > numbers(released[0])
    else:
        assert __version__ == released[0]


def test_what_a_released_version_writes_is_kept() -> None:
    kept = {path.name for path in (ROOT / "tests" / "released").glob("wmsd-*.tar.gz")}
    assert {f"wmsd-{section}.tar.gz" for section in SECTIONS if section != "Unreleased"} <= kept
