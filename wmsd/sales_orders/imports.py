"""Sales orders in bulk: a row for each line, the rows of one order together, by the rules of single ones."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from pydantic import ValidationError

from wmsd.base.fields import Code, Date, Input, OptionalLabel, OptionalText, Quantity
from wmsd.base.importing import FirstSeen, Outcome, Row
from wmsd.base.problems import FieldErrors, Problem
from wmsd.base.validation import field_errors
from wmsd.db.transaction import Transaction
from wmsd.directory import store as directory
from wmsd.directory.store import CLIENTS, PARTNERS, WAREHOUSES, DirectoryKind
from wmsd.sales_orders import store
from wmsd.sales_orders.actions import change, create_sales_order
from wmsd.sales_orders.rules import MOVES, Status
from wmsd.sales_orders.schema import LineFields, SalesOrderFields


class OrderRow(Input):
    """An order's fields, the same in each of its rows, and one line."""

    code: Code | None = None
    external_ref: OptionalLabel = None
    status: Status | None = None
    partner_code: Code
    warehouse_code: Code
    client_code: Code | None = None
    requested_date: Date | None = None
    notes: OptionalText = None
    article_code: Code
    quantity: Quantity
    line_warehouse_code: Code | None = None


REQUIRED: Final = ("partner_code", "warehouse_code", "article_code", "quantity")
OF_A_LINE: Final = ("article_code", "quantity", "line_warehouse_code")
REFERENCES: Final[Mapping[str, DirectoryKind]] = {
    "partner_code": PARTNERS,
    "warehouse_code": WAREHOUSES,
    "client_code": CLIENTS,
    "line_warehouse_code": WAREHOUSES,
}
COLUMN_OF: Final[Mapping[str, str]] = {
    "partner_id": "partner_code",
    "warehouse_id": "warehouse_code",
    "client_id": "client_code",
}
COLUMN_OF_LINE: Final[Mapping[str, str]] = {"warehouse_id": "line_warehouse_code", "article_id": "article_code"}
Codes = dict[str, dict[str, int]]
"""Ids by code, for each column that refers to something."""


@dataclass(frozen=True, slots=True)
class CheckedRow:
    line: int
    sent: frozenset[str]
    """The columns that are there."""
    row: OrderRow


def import_sales_orders(tx: Transaction, rows: Iterable[Row], outcome: Outcome) -> None:
    """Orders are known by their code or, without one, by their external_ref. A status is walked to by the moves
    that lead there, with all that they do to stock.
    """
    ids = {kind: directory.ids_by_code(tx, kind) for kind in (PARTNERS, WAREHOUSES, CLIENTS)}
    codes = {column: ids[kind] for column, kind in REFERENCES.items()}
    orders = FirstSeen()
    for key, group in groupby(rows, key=_key):
        of_one = list(group)
        checked = [found for row in of_one if (found := _checked(row, codes, outcome)) is not None]
        before = orders.line_before(key, of_one[0].line)
        if before is not None:
            outcome.refuse(of_one[0].line, {"code": [f"is apart from its rows that begin at row {before}"]})
        elif len(checked) == len(of_one) and _is_one_order(checked, outcome):
            _write(tx, checked, codes, outcome)


def _key(row: Row) -> tuple[object, object]:
    return row.values.get("code"), row.values.get("external_ref")


def _checked(row: Row, codes: Codes, outcome: Outcome) -> CheckedRow | None:
    errors: FieldErrors = {}
    checked: OrderRow | None = None
    try:
        checked = OrderRow.model_validate(row.values)
    except ValidationError as error:
        errors = field_errors(error)
    if not any(_key(row)):
        errors.setdefault("code", ["is required, or external_ref"])
    for column, kind in REFERENCES.items():
        code = row.values.get(column)
        if code is not None and column not in errors and code not in codes[column]:
            errors[column] = [f"is not a {kind.name} of this company"]
    if errors or checked is None:
        outcome.refuse(row.line, errors)
        return None
    return CheckedRow(row.line, frozenset(row.values), checked)


def _is_one_order(rows: list[CheckedRow], outcome: Outcome) -> bool:
    """Whether the order's own fields are the same in all its rows."""
    first = rows[0]
    agree = True
    for each in rows[1:]:
        for name in OrderRow.model_fields:
            if name not in OF_A_LINE and getattr(each.row, name) != getattr(first.row, name):
                outcome.refuse(each.line, {name: [f"differs from row {first.line}, which begins this order"]})
                agree = False
    return agree


def _write(tx: Transaction, rows: list[CheckedRow], codes: Codes, outcome: Outcome) -> None:
    order_id = _known(tx, rows[0].row)
    try:
        if order_id is None:
            record = create_sales_order.action(tx, _body(rows, codes))
            _walk(tx, record.id, rows[0].row.status)
            outcome.created += 1
        elif _change(tx, order_id, rows, codes):
            outcome.updated += 1
        else:
            outcome.unchanged += 1
    except Problem as problem:
        for line, errors in _placed(problem, rows):
            outcome.refuse(line, errors)


def _known(tx: Transaction, row: OrderRow) -> int | None:
    if row.code is not None:
        return store.id_of_code(tx, row.code)
    assert row.external_ref is not None
    return store.id_of_external_ref(tx, row.external_ref)


def _body(rows: list[CheckedRow], codes: Codes) -> SalesOrderFields:
    fields = _fields(rows[0], codes)
    return SalesOrderFields.model_construct(**{**fields, "code": rows[0].row.code}, lines=_lines(rows, codes))


def _change(tx: Transaction, order_id: int, rows: list[CheckedRow], codes: Codes) -> bool:
    """Whether anything differed."""
    before = store.one(tx, order_id)
    change(tx, order_id, _fields(rows[0], codes), _lines(rows, codes))
    _walk(tx, order_id, rows[0].row.status)
    return store.one(tx, order_id) != before


def _walk(tx: Transaction, order_id: int, wanted: Status | None) -> None:
    current = store.columns(tx, order_id)
    assert current is not None
    for status in MOVES.route(current["status"], wanted or current["status"]):
        change(tx, order_id, {}, None, status)


def _fields(first: CheckedRow, codes: Codes) -> dict[str, Any]:
    """The order's fields that the file has; columns that are not there stay as they are."""
    row = first.row
    fields: dict[str, Any] = {
        "partner_id": codes["partner_code"][row.partner_code],
        "warehouse_id": codes["warehouse_code"][row.warehouse_code],
    }
    if "client_code" in first.sent:
        fields["client_id"] = None if row.client_code is None else codes["client_code"][row.client_code]
    for name in ("external_ref", "requested_date", "notes"):
        if name in first.sent:
            fields[name] = getattr(row, name)
    return fields


def _lines(rows: list[CheckedRow], codes: Codes) -> list[LineFields]:
    return [
        LineFields.model_construct(
            article_code=each.row.article_code,
            quantity=each.row.quantity,
            warehouse_id=codes["line_warehouse_code"].get(each.row.line_warehouse_code or ""),
        )
        for each in rows
    ]


def _placed(problem: Problem, rows: list[CheckedRow]) -> Iterator[tuple[int, FieldErrors]]:
    """The errors of an order at the row and column of the file that they tell of."""
    if not problem.errors:
        yield rows[0].line, {"status": [problem.message.rstrip(".")]}
    for path, sentences in problem.errors.items():
        name, _, rest = path.partition(".")
        if name == "lines" and rest:
            number, _, field = rest.partition(".")
            yield rows[int(number)].line, {COLUMN_OF_LINE.get(field, field): sentences}
        else:
            yield rows[0].line, {COLUMN_OF.get(name, name): sentences}
