"""Recognises damaged search indexes. Such damage loses no data, because wmsd builds the index again from the
records.
"""

from typing import Final

from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.files.integrity import IN_TABLE, Damage

DAMAGED: Final = ("fts5: ", "invalid fts5 file format")
"""The beginnings of SQLite's messages if the content of an index is damaged. If a page of the database file is
damaged, the message begins differently.
"""
TABLE: Final = "search_index"


class DamagedIndexes:
    """The companies whose index is damaged and not yet built again. Any thread may add a company."""

    def __init__(self) -> None:
        self._is_empty: dict[int, bool] = {}

    def note(self, company_id: int) -> None:
        self._is_empty[company_id] = False

    def noted(self) -> set[int]:
        return set(self._is_empty)

    def is_to_be_emptied(self, company_id: int) -> bool:
        return not self._is_empty.get(company_id, True)

    def note_emptied(self, company_id: int) -> None:
        self._is_empty[company_id] = True

    def forget(self, company_id: int) -> None:
        self._is_empty.pop(company_id, None)


def is_index_damage(error: BaseException) -> bool:
    """Return True if the error says that only the content of an index is damaged, and not the database file
    itself.
    """
    return isinstance(error, sqlite3.Error) and str(error).startswith(DAMAGED)


def is_of_index(damage: Damage) -> bool:
    """Return True if only the content of the search index is damaged. `damage` is the result of a check of the
    file.
    """
    in_index = damage.place == IN_TABLE.format(table=TABLE)
    return in_index and all(message.startswith(DAMAGED) for message in damage.messages)
