"""Tests of CSV lines that SQLite renders: they equal what Python writes from the JSON of the same record."""

import csv
import io
import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.steering import CountedIds
from wmsd.base.decimal_marks import unambiguous
from wmsd.contract import csv_cells
from wmsd.contract.context import PROGRAM
from wmsd.contract.fields import Model, Quantity
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.csv_lines import END, CsvLines
from wmsd.db.sql.records import RecordSql, record_sql


class Shown(Model):
    code: str
    note: str | None
    amount: Quantity | None
    pieces: int | None
    active: bool
    tags: list[str] | None


RECORD = record_sql(Shown)
COLUMNS = list(Shown.model_fields)
HEAD = st.text(st.sampled_from("=+-@'\t\r ;,\"\n\u00a0\u1680\uff1da1Șß÷"), max_size=6)
TEXTS = st.builds(
    lambda head, tail: head + tail, HEAD, st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
)
TEXTS = TEXTS.filter(lambda text: "\0" not in text)
VALUES = st.fixed_dictionaries(
    {
        "code": TEXTS,
        "note": st.none() | TEXTS,
        "amount": st.none()
        | st.integers(-(10**12), 10**12)
        | st.sampled_from([1_234_000, 500_000, -12_345_000, 0]),
        "pieces": st.none() | st.integers(-(10**6), 10**6),
        "active": st.booleans(),
        "tags": st.none() | st.lists(TEXTS, max_size=3),
    }
)


def transaction(values: dict[str, Any]) -> Transaction:
    """Return a transaction over a table `shown` with one row."""
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE shown ({', '.join(COLUMNS)})")
    tags = None if values["tags"] is None else json.dumps(values["tags"])
    row = {**values, "tags": tags}
    connection.execute(f"INSERT INTO shown VALUES ({', '.join(f':{name}' for name in COLUMNS)})", row)
    now = datetime(2026, 11, 20, tzinfo=UTC)
    return Transaction(connection, now, now, CountedIds(), PROGRAM, {})


def by_sqlite(tx: Transaction, lines: CsvLines, record: RecordSql = RECORD) -> str:
    found: str = tx.value(f"SELECT {lines.render(tx, record)} FROM shown")
    return found


def by_python(tx: Transaction, is_unambiguous: bool) -> str:
    record = json.loads(tx.value(f"SELECT {RECORD} FROM shown"), parse_float=str, parse_int=str)
    row = [csv_cells.write_cell(record[name]) for name in COLUMNS]
    if is_unambiguous:
        row[COLUMNS.index("amount")] = unambiguous(row[COLUMNS.index("amount")])
    written = io.StringIO()
    csv.writer(written).writerow(row)
    return written.getvalue().removesuffix(END)


@given(VALUES, st.booleans())
@example({"code": "a;=b", "note": "", "amount": 1_234_000, "pieces": -1, "active": True, "tags": []}, True)
@example({"code": "a\t=b", "note": "5\t-5", "amount": 0, "pieces": 0, "active": True, "tags": ["a\t=b"]}, True)
@example({"code": "÷", "note": "\r", "amount": None, "pieces": None, "active": False, "tags": None}, False)
def test_a_line_is_what_python_writes_of_the_record(values: dict[str, Any], is_unambiguous: bool) -> None:
    tx = transaction(values)
    lines = CsvLines(COLUMNS, is_unambiguous=is_unambiguous)
    assert by_sqlite(tx, lines) == by_python(tx, is_unambiguous)


def test_a_column_of_its_own_stands_in_the_place_of_the_records() -> None:
    tx = transaction({"code": "A", "note": None, "amount": 0, "pieces": 1, "active": True, "tags": None})
    own = {"note": "(SELECT '=' || code)", "amount": "(SELECT 1500000)"}
    columns = {name: (sql, Shown.model_fields[name]) for name, sql in own.items()}
    lines = CsvLines(["note", "code", "amount"], columns)
    assert by_sqlite(tx, lines) == "'=A,A,1.5"
