"""The texts of wmsd are plain English (CONTRIBUTING.md): no word that means something only to its authors, no
beginning that has to be read twice, and no long sentence in an error.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from polib import pofile

import wmsd
from tests.support.messages import CATALOGUES

PACKAGE: Final = Path(wmsd.__file__).parent
TABLE: Final = (
    (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Words that we avoid")[2]
)
AVOIDED: Final = [
    words for row in re.findall(r"^\| (?!not |---)(.+?) \|", TABLE, re.MULTILINE) for words in row.split(", ")
]
AVOIDED_WORDS: Final = re.compile(rf"\b(?:{'|'.join(map(re.escape, AVOIDED))})\b", re.IGNORECASE)
CODE: Final = re.compile(r"`[^`]*`|\{[^{}]*\}|%\(\w+\)[sd]|--[\w-]+")
"""The parts of a text that are not English: code, values and options."""
BEGINNING: Final = re.compile(r"(?:Of|Whose|Whom|By whom|By which|In which|From which|To which) ")
LONGEST_ERROR: Final = 30
"""The most words of a sentence in an error."""
STORED: Final = frozenset(
    {
        "company.delete given up",
        "keys in the proven backup",
        "Written by `wmsd service install`, which writes it anew.",
    }
)
"""Texts that programs compare: an action in the audit, a JSON key of `wmsd status`, and a line of the unit."""


class Text(NamedTuple):
    place: str
    text: str


def texts_of_python() -> Iterator[Text]:
    """Yield the strings and docstrings of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_sentence(node.value):
                yield Text(f"{path.relative_to(PACKAGE)}:{node.lineno}", node.value)


def _is_sentence(text: str) -> bool:
    return len(text.split()) > 2 and text not in STORED


def messages(pattern: str = "ro*.po") -> Iterator[Text]:
    """Yield the English messages of the catalogues, except those that only earlier versions wrote."""
    for path in sorted(CATALOGUES.glob(pattern)):
        if not path.stem.endswith("-former"):
            for entry in pofile(str(path)):
                for text in (entry.msgid, entry.msgid_plural):
                    if text:
                        yield Text(f"{path.name}:{entry.linenum}", text)


def test_the_table_has_words() -> None:
    assert len(AVOIDED) > 20


@pytest.mark.parametrize("source", [texts_of_python, messages])
def test_no_text_has_a_word_that_we_avoid(source: Callable[[], Iterator[Text]]) -> None:
    found = [
        f"{place}: {word[0]!r} in {text[:100]!r}"
        for place, text in source()
        if (word := AVOIDED_WORDS.search(CODE.sub("", text)))
    ]
    assert found == []


def test_no_message_begins_with_a_relative_clause() -> None:
    assert [each for each in messages() if BEGINNING.match(each.text) and not each.text.endswith("?")] == []


def test_no_sentence_of_an_error_is_long() -> None:
    assert [
        (place, sentence)
        for place, text in messages("*-errors.po")
        for sentence in re.split(r"(?<=[.!?:;]) ", text)
        if len(sentence.split()) > LONGEST_ERROR
    ] == []
