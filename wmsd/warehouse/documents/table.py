"""The database table of a kind of document, and the SQL statements that all kinds share."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Final, NamedTuple, get_args

from pydantic import Field, WithJsonSchema, create_model

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import or_not_found
from wmsd.base.strict_json import dumps
from wmsd.contract.fields import Code, Date, Id, Input, Model
from wmsd.contract.list_queries import CursorQuery, IdsQuery, PageQuery, Query, QueryId, several_of
from wmsd.contract.results import CursorPage, Page, Record, Records
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.change_sequence import change_columns, creation_columns, updated_at_sql
from wmsd.db.sql.code_series import next_code
from wmsd.db.sql.list_filters import DateRange, Member, Tally
from wmsd.db.sql.lists import FEW_AT_ONCE, Listing, conditions
from wmsd.db.sql.records import check_fields_are_read, record_sql
from wmsd.db.sql.statements import column_values, insert_sql, update_sql
from wmsd.warehouse.directory.store import DirectoryKind
from wmsd.warehouse.documents.document_lines import LineTable
from wmsd.warehouse.documents.schema import MOST_REACHED, DocumentFilters

CREATED: Final = ("status", "status_history", "change_seq", "created_at", "updated_at")
CHANGED: Final = ("change_seq", "updated_at")
OF_NO_COLUMN: Final = frozenset({"status", "packaging"})
"""Fields of a request body that have no column. The status is changed by a transition, and packaging is stored in
a separate ledger.
"""


ARTICLE: Final = "article_id"


class Due(NamedTuple):
    """The declaration of a due date. `field` is the field with the date. If a document is still in one of
    `statuses` after this date, it is late.
    """

    field: str
    statuses: tuple[str, ...]

    @property
    def range(self) -> DateRange:
        """The column of the due date, and the names of its two filters. For example, `requested_date` has
        `requested_from` and `requested_to`.
        """
        name = self.field.removesuffix("_date")
        return DateRange(self.field, f"{name}_from", f"{name}_to")


WITH_CHANGED_LINES: Final = """
    SELECT json_set(?1, ?2, (
        SELECT json_group_array(json(value)) FROM json_each(?1, ?2)
        WHERE value NOT IN (SELECT value FROM json_each(?3, ?2))
    ))
"""


@dataclass(frozen=True)
class DocumentTable:
    """The table of one kind of document.

    `body` is the model of the fields that a caller may set. The type of its field `status` has all statuses, and
    the default is the initial status. `shown` is the model that `GET` returns.

    `lines` is the name of the field with the lines, and `line_table` is their table. `references` has the fields
    of the document and its lines that contain the id of a record. The key is the field's name without `_id`. The
    value is the kind of this record.

    `filters` are additional filters of this kind's lists: the columns, with the types of the values. `payload` are
    the fields with ids of records that the event `status_changed` contains.

    Raise TypeError if a field can be set, but is not stored or not in the model `shown`.
    """

    noun: str
    series: str
    body: type[Input]
    shown: type[Model]
    lines: str
    line_table: LineTable
    references: Mapping[str, "DirectoryKind | DocumentTable"]
    filters: Mapping[str, Any]
    payload: tuple[str, ...]
    due: Due | None = None
    by_article: bool = False
    """True if a list of documents can be filtered by an article in their lines. The table of the lines then needs
    an index by article.
    """
    tells_changed_lines: bool = False
    """True if the event of a change contains only the changed lines. This is meant for documents with many lines,
    where a change usually affects only a few lines.
    """

    def __post_init__(self) -> None:
        check_fields_are_read(self.body, self.shown, but=OF_NO_COLUMN)
        (line,) = get_args(self.body.model_fields[self.lines].annotation)
        self.line_table.check_settable(line)

    @cached_property
    def entity(self) -> str:
        """The name of the kind in its events, such as `sales_order` in `sales_order.created`."""
        return self.noun.replace(" ", "_")

    @cached_property
    def name(self) -> str:
        return f"{self.entity}s"

    @cached_property
    def statuses(self) -> tuple[str, ...]:
        return get_args(self.body.model_fields["status"].annotation)

    @cached_property
    def initial(self) -> str:
        return str(self.body.model_fields["status"].default)

    @cached_property
    def tally(self) -> Tally:
        """The table that has the number of documents in each status. Lists show these numbers as totals."""
        return Tally(f"{self.entity}_counts", self.statuses, by_partner="partner_id" in self.fields)

    @cached_property
    def query(self) -> type[Query]:
        """The model of the filters of the kind's lists."""
        names = ", ".join(self.statuses)
        says = Field(description=f"One or several of {names}, separated by commas.")
        status = Annotated[
            tuple[Any, ...] | None, several_of(self.statuses), WithJsonSchema({"type": "string"}), says
        ]
        filters = {name: kind | None for name, kind in self.filters.items()}
        own = {"status": status, **filters, **self._days, **self._of_lines}
        fields: dict[str, Any] = {name: (kind, None) for name, kind in own.items()}
        return create_model(f"{self.shown.__name__}Filters", __base__=DocumentFilters, **fields)

    @property
    def _of_lines(self) -> dict[str, Any]:
        """The filter by an article: its name, and the type of its value.

        It must stay the last filter, because it was added last, and generated clients pass parameters by position.
        """
        says = Field(description=f"Only {self.noun}s with this article.")
        return {ARTICLE: Annotated[QueryId | None, says]} if self.by_article else {}

    @cached_property
    def members(self) -> dict[str, Member]:
        lines = self.line_table
        of_article = Member(lines.name, lines.document, f"{ARTICLE} = :{ARTICLE}")
        return {ARTICLE: of_article} if self.by_article else {}

    @property
    def _days(self) -> dict[str, Any]:
        """The filters by the due date: their names, and the types of their values."""
        if self.due is None:
            return {}
        field, first, last = self.due.range
        says = f"Only {self.noun}s whose `{field}` is this day"
        return {
            first: Annotated[Date | None, Field(description=f"{says} or later.")],
            last: Annotated[Date | None, Field(description=f"{says} or earlier.")],
        }

    @cached_property
    def status_changed(self) -> type[Model]:
        """The data of the event `status_changed` (specification, section 6)."""
        status = self.body.model_fields["status"].annotation
        own = {"id": Id, "code": Code, "status": status, "previous_status": status}
        fields: dict[str, Any] = {
            name: (kind, ...) for name, kind in {**own, **dict.fromkeys(self.payload, Id)}.items()
        }
        return create_model(f"{self.shown.__name__}StatusChanged", __base__=Model, **fields)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The columns that a caller may set."""
        return tuple(name for name in self.body.model_fields if name not in {*OF_NO_COLUMN, self.lines})

    @cached_property
    def record(self) -> str:
        lines = self.line_table
        return record_sql(
            self.shown, {self.lines: lines.sql(self.name)}, brief={self.lines: lines.count_sql(self.name)}
        )

    @cached_property
    def listing(self) -> Listing:
        return Listing(
            source=self.name,
            order=f"{self.name}.id" if self.by_article else "id",
            filters=conditions(
                self.query,
                updated_since="change_seq > :updated_since",
                **({} if self.due is None else self.due.range.conditions),
                **{name: member.among(f"{self.name}.id") for name, member in self.members.items()},
            ),
            count=self.name,
            tally=self.tally,
            at_once=FEW_AT_ONCE,
            dates=None if self.due is None else self.due.range,
            members=self.members,
        )

    @cached_property
    def most_lines(self) -> int:
        (most,) = (
            each.max_length for each in self.body.model_fields[self.lines].metadata if hasattr(each, "max_length")
        )
        return int(most)

    def replacement(self, body: Input) -> dict[str, Any]:
        """Return the columns for a full replacement. A field that was not sent takes its default."""
        return column_values({name: getattr(body, name) for name in self.fields})

    def patch(self, body: Input) -> dict[str, Any]:
        """Return the columns for a patch: only the fields that were sent."""
        return column_values({name: getattr(body, name) for name in self.fields if name in body.model_fields_set})

    def merged(self, current: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns in `current`, overwritten by the columns in `given`. An empty code does not remove
        the current code.
        """
        return {**current, **given, "code": given.get("code") or current["code"]}

    def differing(self, current: Mapping[str, Any], values: Mapping[str, Any], lines_differ: bool) -> list[str]:
        """Return the names of the fields that differ. If `lines_differ` is True, the name of the field with the
        lines comes last.
        """
        names = [name for name in self.fields if values[name] != current[name]]
        return [*names, self.lines] if lines_differ else names

    def body_of(self, code: str | None, fields: Mapping[str, Any], lines: Sequence[Any]) -> Any:
        """Create a request body from values that are already validated."""
        columns: dict[str, Any] = {**fields, "code": code, self.lines: lines}
        return self.body.model_construct(None, **columns)

    def page(self, tx: Transaction, query: PageQuery) -> Page:
        return self.listing.page(tx, self.record, query, query.filters())

    def after(self, tx: Transaction, query: CursorQuery, position: int) -> CursorPage:
        return self.listing.after(tx, self.record, query, position, query.filters())

    def find(self, tx: Transaction, query: IdsQuery) -> Records:
        return self.listing.of(tx, self.record, "id", query.ids)

    def every(self, tx: Transaction) -> Iterator[str]:
        """Yield every document as JSON text, for exports."""
        return (row[0] for row in tx.execute(f"SELECT {self.record} FROM {self.name} ORDER BY id"))

    def of_article(self, tx: Transaction, ids: Sequence[int], article_id: int) -> Records:
        return self.line_table.of_article(tx, ids, article_id)

    @cached_property
    def _one(self) -> str:
        return f"SELECT {self.record} FROM {self.name} WHERE id = ?"

    def one(self, tx: Transaction, id: int) -> Record:
        """Return the document. Raise Problem (404) if no document has the id."""
        return Record(id, or_not_found(tx.value(self._one, (id,)), self.noun))

    def with_changed_lines(self, tx: Transaction, before: Record, after: Record) -> str:
        """Return the document `after` as JSON, but only with the lines that differ from the document `before`."""
        return str(tx.value(WITH_CHANGED_LINES, (after.json, f"$.{self.lines}", before.json)))

    @cached_property
    def _several(self) -> str:
        return f"SELECT id, {self.record} FROM {self.name} WHERE id IN (SELECT value FROM json_each(?))"

    def several(self, tx: Transaction, ids: Sequence[int]) -> dict[int, Record]:
        """Return the documents with these ids, by id. All documents must exist."""
        return {
            document_id: Record(document_id, text)
            for document_id, text in tx.rows(self._several, (dumps(list(ids)),))
        }

    @cached_property
    def _columns(self) -> str:
        return f"SELECT {', '.join(self.fields)}, status FROM {self.name} WHERE id = ?"

    def find_columns(self, tx: Transaction, document_id: int) -> dict[str, Any] | None:
        """Return those columns of the document that a caller may set, and its status. Return None if no document
        has the id.
        """
        return tx.record(self._columns, (document_id,))

    def columns(self, tx: Transaction, document_id: int) -> dict[str, Any]:
        """Return those columns of the document that a caller may set, and its status. Raise Problem (404) if no
        document has the id.
        """
        return or_not_found(self.find_columns(tx, document_id), self.noun)

    @cached_property
    def _id_of_code(self) -> str:
        return f"SELECT id FROM {self.name} WHERE code = ?"

    def id_of_code(self, tx: Transaction, code: str) -> int | None:
        return tx.find_number(self._id_of_code, (code,))

    @cached_property
    def _id_of_external_ref(self) -> str:
        return f"SELECT id FROM {self.name} WHERE external_ref = ?"

    def id_of_external_ref(self, tx: Transaction, external_ref: str) -> int | None:
        return tx.find_number(self._id_of_external_ref, (external_ref,))

    @cached_property
    def _insert(self) -> str:
        return insert_sql(self.name, (*self.fields, *CREATED))

    def insert(self, tx: Transaction, values: Mapping[str, object]) -> int:
        """Insert a document and return its id. Without a code, the document gets the next code of the series."""
        moments = creation_columns(tx)
        own = {
            "code": values["code"] or next_code(tx, self.series, self._id_of_code),
            "status": self.initial,
            "status_history": dumps([{"status": self.initial, "at": moments["created_at"]}]),
            **moments,
        }
        return tx.insert(self._insert, {**values, **own})

    @cached_property
    def _update(self) -> str:
        return update_sql(self.name, (*self.fields, *CHANGED))

    def update(self, tx: Transaction, document_id: int, values: Mapping[str, object]) -> None:
        tx.execute(self._update, {**values, "id": document_id, **change_columns(tx)})

    @cached_property
    def _touch(self) -> str:
        return update_sql(self.name, CHANGED)

    def touch(self, tx: Transaction, document_id: int) -> None:
        """Mark the document as changed. Call this if answers show a value of another table in the document, and
        this value has changed.
        """
        tx.execute(self._touch, {"id": document_id, **change_columns(tx)})

    @cached_property
    def _move(self) -> str:
        moment = updated_at_sql(":first + moved.key")
        return f"""
            UPDATE {self.name} SET status = :status,
                change_seq = :first + moved.key, updated_at = {moment},
                status_history = json_insert(
                    CASE WHEN json_array_length(status_history) < {MOST_REACHED} THEN status_history
                        ELSE json_remove(status_history, '$[1]') END,
                    '$[#]', json_object('status', :status, 'at', :now))
            FROM json_each(:ids) AS moved WHERE {self.name}.id = moved.value
            RETURNING id, {record_sql(self.status_changed, {"previous_status": ":previous"})}
        """

    def move(self, tx: Transaction, ids: Sequence[int], previous: str, status: str) -> dict[int, str]:
        """Change the status of documents from `previous` to `status`. Return the data of the event
        `status_changed` for each document, by id.
        """
        row = {"ids": dumps(list(ids)), "previous": previous, "status": status, "now": tx.timestamp}
        first = tx.next_changes(len(ids))[0]
        return dict(tx.rows(self._move, {**row, "first": first}))

    def delete(self, tx: Transaction, document_id: int) -> None:
        """Delete a document with its lines. No record may refer to the document or its lines."""
        self.line_table.replace(tx, document_id, [])
        tx.execute(f"DELETE FROM {self.name} WHERE id = ?", (document_id,))
