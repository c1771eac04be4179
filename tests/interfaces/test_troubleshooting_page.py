"""The guide says what to do for each sentence with which a command or a start fails."""

import re
from pathlib import Path
from typing import Final

from tests.support.told_sentences import HOLE, sentences
from wmsd import docs

PAGE: Final = (Path(docs.__file__).parent / "troubleshooting.md").read_text(encoding="utf-8")
ENTRIES: Final = re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)
TOLD: Final = sentences()


def begins(entry: str) -> "re.Pattern[str]":
    return re.compile(re.escape(entry).replace(HOLE, ".*"))


def test_each_sentence_has_an_entry() -> None:
    patterns = [begins(entry) for entry in ENTRIES]
    missing = {told: place for told, place in TOLD.items() if not any(each.match(told) for each in patterns)}
    assert missing == {}
    assert len(TOLD) > 150


def test_each_entry_is_a_sentence_that_is_told() -> None:
    assert [entry for entry in ENTRIES if not any(begins(entry).match(told) for told in TOLD)] == []
    assert len(set(ENTRIES)) == len(ENTRIES)


def test_the_sentences_of_every_kind_are_found() -> None:
    for beginning in (
        "The data folder … cannot be created",  # StorageError
        "tokens.lifetime_days is",  # SettingsError
        "Only root can change the services",  # ServiceError
        "… and its log … do not belong together",  # raised by a separate class
        "The keys in platform.db are encrypted",  # returned
        "wmsd runs as root",  # a warning
        "An argument is not UTF-8 text.",  # an error of a command
    ):
        assert any(told.startswith(beginning) for told in TOLD), beginning
