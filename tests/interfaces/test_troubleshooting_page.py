"""The guide says what to do for each sentence with which a command or a start fails."""

import re
from pathlib import Path
from typing import Final

import pytest

from tests.support.told_sentences import HOLE, sentences
from wmsd import docs

PAGE: Final = (Path(docs.__file__).parent / "troubleshooting.md").read_text(encoding="utf-8")
ENTRIES: Final = re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def told() -> dict[str, str]:
    return sentences()


def begins(entry: str) -> "re.Pattern[str]":
    return re.compile(re.escape(entry).replace(HOLE, ".*"))


def test_each_sentence_has_an_entry(told: dict[str, str]) -> None:
    patterns = [begins(entry) for entry in ENTRIES]
    missing = {each: place for each, place in told.items() if not any(entry.match(each) for entry in patterns)}
    assert missing == {}
    assert len(told) > 150


def test_each_entry_is_a_sentence_that_is_told(told: dict[str, str]) -> None:
    assert [entry for entry in ENTRIES if not any(begins(entry).match(each) for each in told)] == []
    assert len(set(ENTRIES)) == len(ENTRIES)


def test_the_sentences_of_every_kind_are_found(told: dict[str, str]) -> None:
    for beginning in (
        "The data folder … cannot be created",  # StorageError
        "tokens.lifetime_days is",  # SettingsError
        "Only root can change the services",  # ServiceError
        "… and its log … do not belong together",  # raised by a separate class
        "The keys in platform.db are encrypted",  # returned
        "wmsd runs as root",  # a warning
        "An argument is not UTF-8 text.",  # an error of a command
    ):
        assert any(each.startswith(beginning) for each in told), beginning
