"""Documents as rows of a file. Each line of a document has a row, and all rows of a document are together.

The columns are derived from the fields of the kind of document. The field `partner_id` becomes the column
`partner_code`. A line's `warehouse_id` becomes `line_warehouse_code`, which is empty if the line has the
document's warehouse.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import cached_property
from itertools import groupby
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors, Problem
from wmsd.base.strict_json import dumps
from wmsd.contract import csv_cells
from wmsd.contract.bulk_imports import FirstSeen, Outcome, Row
from wmsd.contract.fields import Code, Input, OptionalLabel
from wmsd.contract.validation import field_errors
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.directory import store as directory
from wmsd.warehouse.directory.store import DirectoryKind
from wmsd.warehouse.documents.file_codes import NO_ARTICLE, Codes, Referred
from wmsd.warehouse.documents.kind import Document, DocumentKind
from wmsd.warehouse.documents.transitions import Forbidden

OF_A_LINE: Final = "line_"


class DocumentRow(Input):
    """The columns that every file of documents has. They belong to the document and not to a line, so each row of
    a document repeats their values.
    """

    code: Code | None = None
    external_ref: OptionalLabel = None
    status: Any = None


@dataclass(frozen=True, slots=True)
class Checked:
    """A row without errors. `line` is its number in the file. `sent` are the columns that the file has. `fields`
    has the values of the row.
    """

    line: int
    sent: frozenset[str]
    fields: Any
    is_head: bool = False
    """True if the row has no line fields. The document's stored lines then do not change."""


class DocumentRows:
    """Converts rows of a file to documents of one kind, and documents to rows. It also has the file's columns."""

    def __init__(self, kind: DocumentKind) -> None:
        self._kind = kind
        self._table = kind.table

    @cached_property
    def own(self) -> dict[str, str]:
        """The file's columns with fields of the document, by the field's name. Fields that are objects are in
        `nested`.
        """
        others = {*DocumentRow.model_fields, *self.nested}
        return {name: self._column(name) for name in self._table.fields if name not in others}

    @cached_property
    def nested(self) -> dict[str, dict[str, FieldInfo]]:
        """The fields of each document field that is an object. For example, the field `ship_to` has the field
        `city`.

        Each field of an object has a separate column, such as `ship_to.city`.
        """
        models = {name: _object(self._table.body.model_fields[name].annotation) for name in self._table.fields}
        return {name: dict(model.model_fields) for name, model in models.items() if model is not None}

    @cached_property
    def of_a_line(self) -> dict[str, tuple[str, ...]]:
        """The file's columns for each field of a line, by the field's name."""
        own = self._kind.in_files.columns
        return {name: own.get(name) or (self._column(name, OF_A_LINE),) for name in self._table.line_table.fields}

    @cached_property
    def line_columns(self) -> tuple[str, ...]:
        return tuple(column for columns in self.of_a_line.values() for column in columns)

    @cached_property
    def references(self) -> dict[str, Referred]:
        """The columns that contain codes of other records, such as partners. The value is the kind of these
        records.
        """
        of_lines = {column: self._reference(name) for name, (column, *_) in self.of_a_line.items()}
        found = {column: self._reference(name) for name, column in self.own.items()} | of_lines
        return {column: referred for column, referred in found.items() if referred is not None}

    @cached_property
    def model(self) -> type[DocumentRow]:
        body, line = self._table.body.model_fields, self._kind.in_files.line.model_fields
        status: Any = body["status"].annotation
        fields: dict[str, Any] = {"status": (status | None, None)}
        fields |= {column: self._field(name, body[name]) for name, column in self.own.items()}
        for name, parts in self.nested.items():
            fields |= {f"{name}.{part}": (each.annotation, copy(each)) for part, each in parts.items()}
        for name, columns in self.of_a_line.items():
            for column in columns:
                fields[column] = self._field(name, line[column if column in line else name])
        fields["article_code"] = (Code, ...)
        return create_model("DocumentColumns", __base__=DocumentRow, **fields)

    @cached_property
    def head(self) -> type[DocumentRow]:
        """The model of a row without line fields. Such a row changes only fields of the document, not its
        lines.
        """
        return create_model("DocumentHead", __base__=self.model, __cls_kwargs__={"partial": True})

    @cached_property
    def columns(self) -> dict[str, FieldInfo]:
        return dict(self.model.model_fields)

    @cached_property
    def required(self) -> tuple[str, ...]:
        return tuple(name for name, each in self.columns.items() if each.is_required())

    def _reference(self, name: str) -> Referred | None:
        return self._table.references.get(name.removesuffix("_id")) if name.endswith("_id") else None

    def _column(self, name: str, prefix: str = "") -> str:
        return name if self._reference(name) is None else f"{prefix}{name.removesuffix('_id')}_code"

    def _field(self, name: str, of_body: FieldInfo) -> tuple[Any, Any]:
        if self._reference(name) is not None:
            return (Code, ...) if of_body.is_required() else (Code | None, None)
        return of_body.annotation, copy(of_body)

    # --- from rows to documents -------------------------------------------------------------------------------

    def documents(self, rows: Iterable[Row], codes: Codes, outcome: Outcome) -> Iterator[Document]:
        """Combine the rows into documents, and yield the documents without errors. Add the errors in the remaining
        documents to `outcome`.
        """
        for rows_of_one in self._groups(rows, codes, outcome):
            first = rows_of_one[0]
            yield Document(
                first.fields.code,
                first.fields.external_ref,
                first.fields.status,
                [row.line for row in rows_of_one],
                self._fields_of(first, codes),
                None if first.is_head else [self._line_of(row, codes) for row in rows_of_one],
            )

    def _fields_of(self, first: Checked, codes: Codes) -> dict[str, Any]:
        """Return those fields of the document that have a column in the file. An import does not change any other
        fields.
        """
        fields = {"external_ref": first.fields.external_ref} if "external_ref" in first.sent else {}
        for name, column in self.own.items():
            if column in first.sent:
                value = getattr(first.fields, column)
                fields[name] = codes.find(column, value) if column in self.references else value
        for name, parts in self.nested.items():
            sent = [part for part in parts if f"{name}.{part}" in first.sent]
            if sent:
                fields[name] = {part: getattr(first.fields, f"{name}.{part}") for part in sent}
        return fields

    def whole(self, fields: Mapping[str, Any], current: Mapping[str, Any]) -> dict[str, Any]:
        """Convert the fields to the form in which they are stored. An object becomes JSON text, or None if all its
        parts are empty.

        `current` has the columns of the stored document. If the file has no column for a part of an object, this
        part keeps its current value.
        """
        found = dict(fields)
        for name in self.nested.keys() & fields.keys():
            before = json.loads(current.get(name) or "{}")
            values = {**dict.fromkeys(self.nested[name]), **before, **fields[name]}
            found[name] = None if all(value is None for value in values.values()) else dumps(values)
        return found

    def _line_of(self, row: Checked, codes: Codes) -> Any:
        values: dict[str, Any] = {}
        for name, columns in self.of_a_line.items():
            for column in columns:
                value = getattr(row.fields, column)
                if column in self.references:
                    values[name] = codes.find(column, value)
                else:
                    values[column] = value
        return self._kind.in_files.line.model_construct(None, **values)

    def refuse(self, problem: Problem, document: Document, outcome: Outcome) -> None:
        """Add the errors of `problem` to `outcome`, each at the row and column that caused it."""
        if not problem.errors:
            fields = problem.fields if isinstance(problem, Forbidden) else ()
            columns = [self._column_of(name) for name in fields] or ["status"]
            outcome.refuse(document.rows[0], {column: [problem.message.rstrip(".")] for column in columns})
        for path, sentences in problem.errors.items():
            name, _, rest = path.partition(".")
            line, column = document.rows[0], path if name in self.nested else self.own.get(name, name)
            if name == self._table.lines and rest:
                number, _, name = rest.partition(".")
                line, column = document.rows[int(number)], self.of_a_line.get(name, (name,))[0]
            outcome.refuse(line, {column: sentences})

    def refuse_new(self, document: Document, outcome: Outcome) -> None:
        """Add an error to `outcome`: the document does not exist, and cannot be created because its row has no
        line fields.
        """
        sentence = (
            f"is not a {self._table.noun} of this company; to create a new one, fill in {', '.join(self.required)}"
        )
        outcome.refuse(document.rows[0], {"external_ref" if document.code is None else "code": [sentence]})

    def _column_of(self, field: str) -> str:
        """Return the column at which an error in this field of the document is reported."""
        return self.line_columns[0] if field == self._table.lines else self.own.get(field, field)

    def _groups(self, rows: Iterable[Row], codes: Codes, outcome: Outcome) -> Iterator[list[Checked]]:
        seen, most = FirstSeen(), self._table.most_lines
        for key, group in groupby(rows, key=document_key):
            of_one = list(group)
            is_head = len(of_one) == 1 and not self.has_line(of_one[0])
            checked = [
                found for row in of_one if (found := self._checked(row, codes, outcome, is_head)) is not None
            ]
            before = seen.line_before(key, of_one[0].line)
            if before is not None:
                outcome.refuse(
                    of_one[0].line, {"code": [f"is also in row {before}: put all rows of a document together"]}
                )
            elif len(of_one) > most:
                outcome.refuse(of_one[most].line, {"code": [f"has more than {most} {self._table.lines}"]})
            elif len(checked) == len(of_one) and self._agree(checked, outcome):
                yield checked
            else:
                self._refuse_articles(of_one, codes, outcome)

    def _refuse_articles(self, rows: list[Row], codes: Codes, outcome: Outcome) -> None:
        """Report the unknown articles in a document that already has other errors.

        In a document without errors, they are found later, when the document is written.
        """
        named = [(row.line, code) for row in rows if isinstance(code := row.values.get("article_code"), str)]
        unknown = codes.unknown_articles(code for _, code in named)
        for line, code in named:
            if code in unknown:
                outcome.refuse(line, {"article_code": [NO_ARTICLE]})

    def has_line(self, row: Row) -> bool:
        """Return True if the row has a value in any column for a field of a line."""
        return any(row.values.get(name) not in (None, []) for name in self.line_columns)

    def _checked(self, row: Row, codes: Codes, outcome: Outcome, is_head: bool) -> Checked | None:
        errors: FieldErrors = {}
        fields: DocumentRow | None = None
        try:
            fields = (self.head if is_head else self.model).model_validate(row.values)
        except ValidationError as error:
            errors = field_errors(error)
        if document_key(row) == ("external_ref", None):
            errors.setdefault("code", ["is required unless external_ref is given"])
        for column, kind in self.references.items():
            code = row.values.get(column)
            if isinstance(code, str) and column not in errors and codes.find(column, code) is None:
                errors[column] = [f"is not a {kind.noun} of this company"]
        if errors or fields is None:
            outcome.refuse(row.line, errors)
            return None
        return Checked(row.line, frozenset(row.values), fields, is_head)

    def _agree(self, rows: list[Checked], outcome: Outcome) -> bool:
        """Return True if all rows of a document have the same values in the columns that belong to the document
        and not to a line. Add an error to `outcome` for each difference.
        """
        first, agree = rows[0], True
        own = [name for name in self.model.model_fields if name not in self.line_columns]
        for each in rows[1:]:
            for name in own:
                if getattr(each.fields, name) != getattr(first.fields, name):
                    sentence = f"must be the same as in row {first.line}, the first row of this {self._table.noun}"
                    outcome.refuse(each.line, {name: [sentence]})
                    agree = False
        return agree

    # --- from documents to rows -------------------------------------------------------------------------------

    def exported(self, tx: Transaction) -> Iterator[dict[str, Any]]:
        """Yield the rows of all documents, in the same form as `rows_of`."""
        return self.rows_of(tx, map(csv_cells.read_record, self._table.every(tx)))

    def rows_of(self, tx: Transaction, documents: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield one row for each line of these documents, with codes instead of ids. In `documents` and in the
        rows, each number is a string (see `csv_cells.read_record`).
        """
        known = {
            name: directory.codes_by_id(tx, kind)
            for name, kind in self._table.references.items()
            if isinstance(kind, DirectoryKind)
        }

        def code_of(name: str, record_id: str | None) -> str | None:
            if record_id is None:
                return None
            kind = self._table.references[name]
            if isinstance(kind, DirectoryKind):
                return known[name].get(int(record_id))
            return str(kind.columns(tx, int(record_id))["code"])

        def coded(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
            return {
                f"{prefix}{name}_code": code_of(name, record[f"{name}_id"])
                for name in self._table.references
                if f"{name}_id" in record
            }

        for document in documents:
            parts = {
                f"{name}.{part}": (document[name] or {}).get(part)
                for name in self.nested
                for part in self.nested[name]
            }
            own = {**document, **coded(document), **parts}
            for line in self._kind.in_files.lines_shown(tx, document, document[self._table.lines]):
                elsewhere = {name: value for name, value in line.items() if value != document.get(name)}
                of_line = {name: line[name] for name in self.line_columns if name in line}
                yield {**own, **coded(elsewhere, OF_A_LINE), **of_line}


def _object(annotation: Any) -> type[BaseModel] | None:
    """Return the model of a field that is an object or null, or None for any other field."""
    kinds = get_args(annotation) or (annotation,)
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def document_key(row: Row) -> tuple[str, object]:
    """Return the column that identifies the row's document (`code` or `external_ref`), and its value."""
    code = row.values.get("code")
    return ("code", code) if code is not None else ("external_ref", row.values.get("external_ref"))
