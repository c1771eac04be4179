"""What the commands of a kind of record follow from: its operations, and their fields."""

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.contract.operation import Operation
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.cli.kit.field_options import (
    NAMED_BY_CODE,
    FieldOption,
    options_of_fields,
    options_of_query,
)
from wmsd.interfaces.cli.kit.operations import errors_by_options, not_there
from wmsd.warehouse.directory import store as directory

Row = dict[str, Any]
SORT: Final = "sort"
BY_ID: Final = "id:"


@dataclass(frozen=True)
class RecordCommands:
    """What the commands of a kind of record do: these operations. `listed` are the columns that people see."""

    noun: str
    table: str
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
        """The id of the record with this code, or with the id 7 when it is named `id:7`. Raises Problem (404).

        A number alone is never an id: a mistyped code would be another record.
        """
        found = self.id_of_code(tx, named)
        if found is None and named.startswith(BY_ID) and self._with_id(tx, named.removeprefix(BY_ID)) is not None:
            found = int(named.removeprefix(BY_ID))
        if found is None:
            sentence = not_there(tx, self.noun, self.table, named, f"{self.noun} list --company {company}")
            other = self._with_id(tx, named)
            if other is not None:
                sentence += f" {other} has the id {named}, and is named {BY_ID}{named} too."
            raise Problem("NOT_FOUND", sentence)
        return found

    def _with_id(self, tx: Transaction, text: str) -> str | None:
        """The code of the record with this id."""
        if not (text.isascii() and text.isdecimal()):
            return None
        try:
            code: str = json.loads(self.get.action(tx, int(text)).json)["code"]
        except (Problem, OverflowError):
            return None
        return code


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
    return errors_by_options({**{each.path: each.option for each in options}, **(more or {})})
