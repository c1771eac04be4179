"""What the commands of a kind of record follow from: its operations, and their fields."""

import json
import shutil
import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.contract.operation import Operation
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.cli.kit.command_line import cell_text
from wmsd.interfaces.cli.kit.field_options import FieldOption, options_of_fields, options_of_query
from wmsd.interfaces.cli.kit.operations import not_there
from wmsd.interfaces.cli.kit.references import DIRECTORY, References, Row, with_codes

SORT: Final = "sort"
BY_ID: Final = "id:"
NARROWEST: Final = 80
BETWEEN: Final = 2
LEAST: Final = 8
"""The characters that stay of the widest column, whatever the others take."""
Rows = list[Row]


@dataclass(frozen=True)
class RecordKind:
    """Records that people name by a code, and the operations that read them. `listed` are the columns that people
    see in a list.
    """

    noun: str
    table: str
    id_of_code: Callable[[Transaction, str], int | None]
    list: Operation
    get: Operation
    listed: tuple[str, ...]

    @property
    def argument(self) -> str:
        """What the code of a record is called in the usage of a command."""
        return self.noun.split()[-1].upper()

    @property
    def tables(self) -> tuple[str, ...]:
        """The fields of a record that are tables of their own."""
        return ()

    @property
    def references(self) -> References:
        return DIRECTORY

    @cached_property
    def filters(self) -> tuple[FieldOption, ...]:
        query: Any = self.list.query
        return options_of_query(query, [*query.filter_names(), SORT])

    def find(self, tx: Transaction, named: str, company: str) -> int:
        """The id of the record with this code. Raises Problem (404)."""
        found = self.id_of_code(tx, named)
        if found is None:
            lists = f"{self.noun.replace(' ', '-')} list --company {company}"
            raise Problem("NOT_FOUND", not_there(tx, self.noun, self.table, named, lists))
        return found

    def rows(self, tx: Transaction, records: Rows, as_json: bool) -> Rows:
        """The rows of a list."""
        coded = with_codes(tx, self.references, records)
        return [{name: _cell(record[name]) for name in self.listed} for record in coded]


def _cell(value: Any) -> Any:
    return len(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class RecordCommands(RecordKind):
    """Records that commands make and change too, by these operations."""

    create: Operation
    change: Operation

    @cached_property
    def fields(self) -> tuple[FieldOption, ...]:
        assert self.create.body is not None
        return options_of_fields(self.create.body)

    @cached_property
    def changes(self) -> tuple[FieldOption, ...]:
        assert self.change.body is not None
        return options_of_fields(self.change.body)

    def find(self, tx: Transaction, named: str, company: str) -> int:
        """The id of the record with this code, or with the id 7 when it is named `id:7`. Raises Problem (404).

        A number alone is never an id: a mistyped code would be another record.
        """
        try:
            return super().find(tx, named, company)
        except Problem as problem:
            if named.startswith(BY_ID) and self._with_id(tx, named.removeprefix(BY_ID)) is not None:
                return int(named.removeprefix(BY_ID))
            if (other := self._with_id(tx, named)) is None:
                raise
            sentence = f"{problem.message} {other} has the id {named}, and is named {BY_ID}{named} too."
            raise Problem("NOT_FOUND", sentence) from None

    def _with_id(self, tx: Transaction, text: str) -> str | None:
        """The code of the record with this id."""
        if not (text.isascii() and text.isdecimal()):
            return None
        try:
            code: str = json.loads(self.get.action(tx, int(text)).json)["code"]
        except (Problem, OverflowError):
            return None
        return code

    def rows(self, tx: Transaction, records: Rows, as_json: bool) -> Rows:
        """As JSON the whole records; for people, rows that fit the terminal."""
        return records if as_json else fitted(super().rows(tx, records, as_json))


def fitted(rows: Rows) -> Rows:
    """The rows with the longest texts cut, except in the first column, which names the record."""
    if not rows:
        return rows
    widest = shutil.get_terminal_size().columns if sys.stdout.isatty() else NARROWEST
    table = [{name: cell_text(value) for name, value in row.items()} for row in rows]
    others = list(table[0])[1:]
    widths = {name: max(len(name), *(len(row[name]) for row in table)) for name in table[0]}
    for _ in others:
        over = sum(widths.values()) + BETWEEN * len(others) - max(widest, NARROWEST)
        longest = max(others, key=lambda name: widths[name])
        if over <= 0 or widths[longest] <= LEAST:
            break
        widths[longest] = max(LEAST, len(longest), widths[longest] - over)
    return [{name: _cut(text, widths[name]) for name, text in row.items()} for row in table]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
