"""The database table of the lines of a kind of document."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Final, Protocol

from pydantic import BaseModel

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.contract.fields import Model, SentBack
from wmsd.contract.results import Records
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.records import record_sql
from wmsd.db.sql.statements import insert_sql
from wmsd.warehouse.documents.schema import DocumentOfArticle, OfTheRequest

IDENTIFIES: Final = ("id", "article_code")
"""Fields of a sent line that are not stored in a column. `id` identifies the stored line. `article_code`
identifies the article.
"""
NOT_STORED: Final = (SentBack, OfTheRequest)
OF_ITS_ARTICLE: Final = "CROSS JOIN articles ON articles.id = line.article_id"


class HasId(Protocol):
    """A sent line that may have the id of a stored line."""

    @property
    def id(self) -> int | None: ...


@dataclass(frozen=True)
class LineTable:
    """The table of the lines of one kind of document.

    `document` is the name of the column with the document's id. `fields` are the columns that a caller may set.
    `filled` are the columns that the service fills in. `shown` is the model of a line in answers.

    `joined` is SQL that joins further tables to this table, whose alias is `line`. `columns` has the SQL of each
    answer field that is not simply a column of this table.

    Raise TypeError if a field can be set but is not in the model `shown`.
    """

    name: str
    document: str
    fields: tuple[str, ...]
    shown: type[Model]
    joined: str = OF_ITS_ARTICLE
    columns: Mapping[str, str] = field(default_factory=dict)
    filled: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        hidden = [name for name in self.fields if name not in self.shown.model_fields]
        if hidden:
            raise TypeError(
                f"{self.name} stores fields that {self.shown.__name__} does not show: {', '.join(hidden)}"
            )

    @property
    def stored(self) -> tuple[str, ...]:
        return (*self.fields, *self.filled)

    def sql(self, documents: str) -> str:
        """Return the SQL expression that renders all lines of a document as a JSON array. `documents` is the table
        of the documents.
        """
        own = {name: f"line.{name}" for name in self.shown.model_fields}
        record = record_sql(self.shown, {**own, "article_code": "articles.code", **self.columns})
        return f"""(
            SELECT json_group_array({record} ORDER BY line.position) FROM {self.name} AS line {self.joined}
            WHERE line.{self.document} = {documents}.id
        )"""

    def count_sql(self, documents: str) -> str:
        """Return the SQL expression for the number of lines of a document. `documents` is the table of the
        documents.
        """
        return f"(SELECT count(*) FROM {self.name} AS line WHERE line.{self.document} = {documents}.id)"

    def check_settable(self, line: type[BaseModel]) -> None:
        """Raise TypeError if a field of the model `line` has no column, because its value would not be stored."""
        lost = [
            name
            for name, field in line.model_fields.items()
            if name not in (*self.fields, *IDENTIFIES) and not any(mark in field.metadata for mark in NOT_STORED)
        ]
        if lost:
            raise TypeError(f"{line.__name__} sets fields that {self.name} does not store: {', '.join(lost)}")

    def kept(self, sent: Sequence[HasId], before: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any] | None]:
        """Return for each sent line the stored row with the same id, or None for a new line."""
        left: dict[int | None, Mapping[str, Any]] = {row["id"]: row for row in before}
        return [left.pop(line.id, None) for line in sent]

    def row(self, line: BaseModel, kept: Mapping[str, Any] | None, **found: object) -> dict[str, Any]:
        """Convert a sent line to a row of the table.

        `kept` is the stored row with the same id, or None. `found` has the values of columns that the caller has
        looked up, such as `article_id`.
        """
        line_id = None if kept is None else kept["id"]
        sent = {name: getattr(line, name) for name in self.fields if name not in found}
        lists = {name: dumps(value) if value else None for name, value in sent.items() if isinstance(value, list)}
        return {"id": line_id, **sent, **lists, **found}

    def contents(self, rows: Sequence[Mapping[str, Any]], but: Container[str] = ()) -> list[tuple[Any, ...]]:
        """Return the values of the lines as a list, for a comparison with other lines. The values come from the
        columns that a caller may set, except the columns in `but`.
        """
        names = [name for name in self.fields if name not in but]
        return [tuple(row[name] for name in names) for row in rows]

    @cached_property
    def _of_one(self) -> str:
        return f"SELECT id, {', '.join(self.stored)} FROM {self.name} WHERE {self.document} = ? ORDER BY position"

    def of(self, tx: Transaction, document_id: int) -> list[dict[str, Any]]:
        """Return the stored lines of a document, in their order."""
        return tx.records(self._of_one, (document_id,))

    @cached_property
    def _take_away(self) -> str:
        kept = "SELECT value FROM json_each(?)"
        return f"DELETE FROM {self.name} WHERE {self.document} = ? AND id NOT IN ({kept})"

    @cached_property
    def _insert(self) -> str:
        return insert_sql(self.name, ("id", self.document, "position", *self.stored))

    @cached_property
    def _write(self) -> str:
        columns = ("position", *self.stored)
        changes = ", ".join(f"{column} = excluded.{column}" for column in columns)
        return f"{self._insert} ON CONFLICT (id) DO UPDATE SET {changes}"

    @cached_property
    def _of_article(self) -> str:
        amount = record_sql(DocumentOfArticle, {"id": f"line.{self.document}", "quantity": "sum(line.quantity)"})
        return f"""
            SELECT group_concat(record, ',') FROM (
                SELECT {amount} AS record FROM {self.name} AS line
                WHERE article_id = :article_id AND {self.document} IN (SELECT value FROM json_each(:ids))
                GROUP BY {self.document}
            )
        """

    def of_article(self, tx: Transaction, document_ids: Sequence[int], article_id: int) -> Records:
        """Return the quantity of an article in each of these documents. Documents without this article are
        omitted.
        """
        found = tx.value(self._of_article, {"ids": dumps(list(document_ids)), "article_id": article_id})
        return Records(found or "")

    def insert(self, tx: Transaction, lines_of: Mapping[int, Sequence[Mapping[str, Any]]]) -> None:
        """Insert new lines. `lines_of` has the lines by the id of their document. A line without an id gets a new
        id.
        """
        tx.executemany(self._insert, [row for each in lines_of.items() for row in self._rows(*each)])

    def replace(self, tx: Transaction, document_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Replace all lines of a document by `rows`. No record may refer to the stored lines."""
        tx.execute(f"DELETE FROM {self.name} WHERE {self.document} = ?", (document_id,))
        self.insert(tx, {document_id: rows})

    def write(self, tx: Transaction, document_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Replace all lines of a document by `rows`. A row with an id updates the stored line with this id and
        does not replace it, because other records may refer to the stored line.
        """
        tx.execute(self._take_away, (document_id, dumps([row["id"] for row in rows if row["id"] is not None])))
        tx.executemany(self._write, self._rows(document_id, rows))

    def _rows(self, document_id: int, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{**row, self.document: document_id, "position": position} for position, row in enumerate(rows)]
