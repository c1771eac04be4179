"""What the commands of a kind of record follow from: its operations, and their fields."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.base.operation import Operation
from wmsd.base.problems import Problem
from wmsd.db.transaction import Transaction
from wmsd.directory import store as directory
from wmsd.interfaces.cli.acting import told_by_options
from wmsd.interfaces.cli.field_options import NAMED_BY_CODE, FieldOption, options_of_fields, options_of_query

Row = dict[str, Any]
SORT: Final = "sort"


@dataclass(frozen=True)
class RecordCommands:
    """What the commands of a kind of record do: these operations. `listed` are the columns that people see."""

    noun: str
    id_of_code: Callable[[Transaction, str], int | None]
    list: Operation
    get: Operation
    create: Operation
    change: Operation
    listed: tuple[str, ...]

    @cached_property
    def fields(self) -> tuple[FieldOption, ...]:
        assert self.create.body is not None
        return options_of_fields(self.create.body)

    @cached_property
    def changes(self) -> tuple[FieldOption, ...]:
        assert self.change.body is not None
        return options_of_fields(self.change.body)

    @cached_property
    def filters(self) -> tuple[FieldOption, ...]:
        assert self.list.query is not None
        query: Any = self.list.query
        return options_of_query(query, [*query.filter_names(), SORT])

    def find(self, tx: Transaction, named: str, company: str) -> int:
        """The id of the record with this code or, if none has it, with this id. Raises Problem (404)."""
        found = self.id_of_code(tx, named)
        if found is None and named.isascii() and named.isdecimal():
            try:
                self.get.action(tx, int(named))
                found = int(named)
            except (Problem, OverflowError):
                pass
        if found is None:
            sentence = f"There is no {self.noun} {named}: `wmsd {self.noun} list --company {company}` lists them."
            raise Problem("NOT_FOUND", sentence)
        return found


def with_codes(tx: Transaction, record: Row) -> Row:
    """The record for people: what it refers to by its code."""
    return {
        name.removesuffix("_id") if name in NAMED_BY_CODE else name: _code(tx, name, value)
        for name, value in record.items()
    }


def _code(tx: Transaction, name: str, value: Any) -> Any:
    if name not in NAMED_BY_CODE or value is None:
        return value
    found = directory.columns(tx, NAMED_BY_CODE[name], value)
    return value if found is None else found["code"]


def named_by_options(options: tuple[FieldOption, ...], more: Mapping[str, str] | None = None) -> Any:
    return told_by_options({**{each.path: each.option for each in options}, **(more or {})})
