"""Tests of the security page: the tests that each promise names exist."""

import re
from pathlib import Path

from wmsd import docs

ROOT = Path(__file__).parents[1]


def test_every_promise_names_a_test_that_is_there() -> None:
    page = (Path(docs.__file__).parent / "security.md").read_text(encoding="utf-8")
    _, _, rows = page.partition("| promise | held by |")
    promises = [line for line in rows.splitlines()[2:] if line.startswith("|")]
    assert len(promises) > 10
    for line in promises:
        named = re.findall(r"`(tests/[\w/]+\.py)`", line)
        assert named, line
        for file in named:
            text = (ROOT / file).read_text(encoding="utf-8")
            assert re.search(r"^ *(async )?def test_", text, re.MULTILINE), file
