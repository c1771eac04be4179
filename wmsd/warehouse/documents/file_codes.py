"""Converts the codes in a file of documents to ids."""

from collections.abc import Iterable, Mapping
from typing import Final

from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.articles import store as articles
from wmsd.warehouse.directory import store as directory
from wmsd.warehouse.directory.store import DirectoryKind
from wmsd.warehouse.documents.table import DocumentTable

Referred = DirectoryKind | DocumentTable
NO_ARTICLE: Final = "is not an article of this company"


class Codes:
    """Finds the ids for the codes in each column of a file. The results are cached."""

    def __init__(self, tx: Transaction, references: Mapping[str, Referred]) -> None:
        self._tx = tx
        self._references = references
        self._directory = {
            name: directory.ids_by_code(tx, kind)
            for name, kind in references.items()
            if isinstance(kind, DirectoryKind)
        }
        self._found: dict[tuple[str, str], int | None] = {}

    def find(self, column: str, code: str | None) -> int | None:
        """Return the id of the record with this code. Return None if the code is None or unknown."""
        if code is None:
            return None
        if (column, code) not in self._found:
            kind = self._references[column]
            self._found[column, code] = (
                kind.id_of_code(self._tx, code)
                if isinstance(kind, DocumentTable)
                else self._directory[column].get(code)
            )
        return self._found[column, code]

    def unknown_articles(self, codes: Iterable[str]) -> set[str]:
        """Return those of `codes` that no article has."""
        wanted = set(codes)
        return wanted - {article.code for article in articles.references(self._tx, (), wanted)}

    def are_the_same(self, tx: Transaction) -> bool:
        """Return True if each code that was looked up still belongs to the same record."""
        now = Codes(tx, self._references)
        return all(now.find(column, code) == found for (column, code), found in self._found.items())
