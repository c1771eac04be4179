"""The table of a kind of document, and the statements that every kind has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from wmsd.base.fields import Input, Model
from wmsd.base.listing import CursorQuery, IdsQuery, PageQuery
from wmsd.base.problems import not_found
from wmsd.base.results import CursorPage, Page, Record, Records
from wmsd.base.strict_json import dumps
from wmsd.db.listing import Listing
from wmsd.db.record import record_sql
from wmsd.db.series import next_code
from wmsd.db.table import insert_sql, update_sql
from wmsd.db.transaction import Transaction

FILTERS: Final = {
    "status": "status = :status",
    "external_ref": "external_ref = :external_ref",
    "code": "code = :code",
    "updated_since": "change_seq > :updated_since",
}
"""What every list of documents can be filtered by."""
CREATED: Final = ("status", "status_history", "change_seq", "created_at", "updated_at")
CHANGED: Final = ("change_seq", "updated_at")


@dataclass(frozen=True)
class DocumentTable:
    """`fields` are the columns that a caller may set, `record` is the SQL of what `GET` shows, `told` the data of
    `status_changed`. `initial` is the status in which every document begins.
    """

    noun: str
    name: str
    series: str
    initial: str
    fields: tuple[str, ...]
    record: str
    told: type[Model]
    listing: Listing

    @property
    def entity(self) -> str:
        """The first part of its events' names."""
        return self.noun.replace(" ", "_")

    def whole(self, body: Input) -> dict[str, Any]:
        """The columns as a body says them: a field that was not sent takes its default."""
        return {name: getattr(body, name) for name in self.fields}

    def given(self, body: Input) -> dict[str, Any]:
        """The columns that were sent."""
        return {name: getattr(body, name) for name in self.fields if name in body.model_fields_set}

    def laid_over(self, current: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """The document as it is to be. A code is not taken away."""
        return {**current, **given, "code": given.get("code") or current["code"]}

    def page(self, tx: Transaction, query: PageQuery) -> Page:
        return self.listing.page(tx, self.record, query, query.filters())

    def after(self, tx: Transaction, query: CursorQuery, position: int) -> CursorPage:
        return self.listing.after(tx, self.record, query, position, query.filters())

    def find(self, tx: Transaction, query: IdsQuery) -> Records:
        return self.listing.of(tx, self.record, "id", query.ids)

    def every(self, tx: Transaction) -> Iterator[str]:
        """Every document, one at a time: for exports."""
        return (row[0] for row in tx.execute(f"SELECT {self.record} FROM {self.name} ORDER BY id"))

    @cached_property
    def _one(self) -> str:
        return f"SELECT {self.record} FROM {self.name} WHERE id = ?"

    def one(self, tx: Transaction, id: int) -> Record:
        """Raises Problem (404) when there is none."""
        text = tx.value(self._one, (id,))
        if text is None:
            raise not_found(self.noun)
        return Record(id, text)

    @cached_property
    def _columns(self) -> str:
        return f"SELECT {', '.join(self.fields)}, status FROM {self.name} WHERE id = ?"

    def find_columns(self, tx: Transaction, document_id: int) -> dict[str, Any] | None:
        """Its own fields as they are stored, and its status."""
        return tx.record(self._columns, (document_id,))

    def columns(self, tx: Transaction, document_id: int) -> dict[str, Any]:
        """The same. Raises Problem (404) when there is none."""
        found = self.find_columns(tx, document_id)
        if found is None:
            raise not_found(self.noun)
        return found

    @cached_property
    def _id_of_code(self) -> str:
        return f"SELECT id FROM {self.name} WHERE code = ?"

    def id_of_code(self, tx: Transaction, code: str) -> int | None:
        found: int | None = tx.value(self._id_of_code, (code,))
        return found

    @cached_property
    def _id_of_external_ref(self) -> str:
        return f"SELECT id FROM {self.name} WHERE external_ref = ?"

    def id_of_external_ref(self, tx: Transaction, external_ref: str) -> int | None:
        found: int | None = tx.value(self._id_of_external_ref, (external_ref,))
        return found

    @cached_property
    def _insert(self) -> str:
        return insert_sql(self.name, (*self.fields, *CREATED))

    def insert(self, tx: Transaction, values: Mapping[str, object]) -> int:
        """A new document, with the next code of the series where none is given."""
        own = {
            "code": values["code"] or next_code(tx, self.series, self._id_of_code),
            "status": self.initial,
            "status_history": dumps([{"status": self.initial, "at": tx.timestamp}]),
            "change_seq": tx.next_change(),
            "created_at": tx.timestamp,
            "updated_at": tx.timestamp,
        }
        return tx.insert(self._insert, {**values, **own})

    @cached_property
    def _update(self) -> str:
        return update_sql(self.name, (*self.fields, *CHANGED))

    def update(self, tx: Transaction, document_id: int, values: Mapping[str, object]) -> None:
        row = {**values, "id": document_id, "change_seq": tx.next_change(), "updated_at": tx.timestamp}
        tx.execute(self._update, row)

    @cached_property
    def _touch(self) -> str:
        return update_sql(self.name, CHANGED)

    def touch(self, tx: Transaction, document_id: int) -> None:
        """Something that the record shows has changed, in another table."""
        row = {"id": document_id, "change_seq": tx.next_change(), "updated_at": tx.timestamp}
        tx.execute(self._touch, row)

    @cached_property
    def _move(self) -> str:
        return f"""
            UPDATE {self.name} SET status = :status, change_seq = :change_seq, updated_at = :now,
                status_history = json_insert(status_history, '$[#]', json_object('status', :status, 'at', :now))
            WHERE id = :id
        """

    def move(self, tx: Transaction, document_id: int, status: str) -> None:
        row = {"id": document_id, "status": status, "change_seq": tx.next_change(), "now": tx.timestamp}
        tx.execute(self._move, row)

    @cached_property
    def _status_changed(self) -> str:
        data = record_sql(self.told, {"previous_status": ":previous"})
        return f"SELECT {data} FROM {self.name} WHERE id = :id"

    def status_changed_data(self, tx: Transaction, document_id: int, previous: str) -> str:
        text: str = tx.value(self._status_changed, {"id": document_id, "previous": previous})
        return text

    def delete(self, tx: Transaction, document_id: int) -> None:
        tx.execute(f"DELETE FROM {self.name} WHERE id = ?", (document_id,))
