"""The table of the lines of a kind of document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from wmsd.base.strict_json import dumps
from wmsd.db.transaction import Transaction


@dataclass(frozen=True)
class LineTable:
    """`document` is the column of the document's id, `fields` are those that a caller may set."""

    name: str
    document: str
    fields: tuple[str, ...]

    @cached_property
    def _of_one(self) -> str:
        return f"SELECT id, {', '.join(self.fields)} FROM {self.name} WHERE {self.document} = ? ORDER BY position"

    def of(self, tx: Transaction, document_id: int) -> list[dict[str, Any]]:
        """The stored lines in their order."""
        return tx.records(self._of_one, (document_id,))

    @cached_property
    def _take_away(self) -> str:
        kept = "SELECT value FROM json_each(?)"
        return f"DELETE FROM {self.name} WHERE {self.document} = ? AND id NOT IN ({kept})"

    @cached_property
    def _write(self) -> str:
        columns = ("position", *self.fields)
        changes = ", ".join(f"{column} = excluded.{column}" for column in columns)
        return f"""
            INSERT INTO {self.name} (id, {self.document}, {", ".join(columns)})
            VALUES (:id, :document_id, {", ".join(f":{column}" for column in columns)})
            ON CONFLICT (id) DO UPDATE SET {changes}
        """

    def write(self, tx: Transaction, document_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """These lines and no others: each with its own id, or a new one where that is None."""
        tx.execute(self._take_away, (document_id, dumps([row["id"] for row in rows if row["id"] is not None])))
        tx.executemany(
            self._write,
            [{**row, "document_id": document_id, "position": position} for position, row in enumerate(rows)],
        )
