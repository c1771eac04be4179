"""Reads lists of records: numbered pages with a total, and lists by cursor."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.contract.list_queries import CursorQuery, PageQuery, Query, refuse_large_page
from wmsd.contract.results import CursorPage, Page, Records
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql import joined_records
from wmsd.db.sql.csv_lines import END
from wmsd.db.sql.joined_records import STATEMENTS, Joined, cut_to, in_parts, read_joined, together
from wmsd.db.sql.list_filters import DateRange, Member, Tally
from wmsd.db.sql.records import RecordSql

RECENT: Final = ("updated_since", "since")
"""The filters for a minimum, such as the earliest time of the last change. Their columns have an index."""
MANY_AT_ONCE: Final = 500
FEW_AT_ONCE: Final = 50
"""MANY_AT_ONCE and FEW_AT_ONCE limit how many records one statement renders. FEW_AT_ONCE is for records that can
be large, such as documents of a thousand lines.
"""
FEW: Final = 2000
SLICE: Final = "LIMIT :limit + 0 OFFSET :offset + 0"
"""The SQL that selects the records of a page. With a plain parameter as LIMIT, SQLite would plan the statement
again for every value, which takes as long as running the statement. The `+ 0` hides the parameter from the
planner.
"""
AMONG: Final = "(SELECT value FROM json_each(:{}))"
COUNT: Final = "SELECT count(*) FROM ({rows})"
NEAR: Final = 20
"""How many pages wmsd reads, in the list's order, to check whether they contain one page of recently changed
records.
"""


def conditions(query: type[Query], **own: str) -> dict[str, str]:
    """Return the SQL condition of each filter of the query, by the filter's name. A filter compares the column
    with the same name, unless `own` has another condition for it.

    Raise TypeError if `own` has a name that is not a filter of the query.
    """
    names = query.filter_names()
    if unknown := sorted(own.keys() - set(names)):
        raise TypeError(f"{query.__name__} declares no filter {', '.join(unknown)}")
    return {name: own.get(name, f"{name} = :{name}") for name in names}


@dataclass(frozen=True, slots=True)
class Listing:
    """The SQL of a list. `filters` maps the name of a query parameter to the SQL condition that uses it.

    A parameter whose value is a tuple matches any of its members. `order` is a unique column. `count` is the name
    of the row in `row_counts` that has the total of the unfiltered list. If `count` is empty, the rows are counted
    at each request, because the platform's tables are small. `at_once` is the number of records that one statement
    renders. It must be lower for records that can be large.
    """

    source: str
    order: str
    filters: Mapping[str, str]
    count: str
    tally: Tally | None = None
    at_once: int = MANY_AT_ONCE
    sort: str = ""
    """The column by which the records are sorted, or "" if they are sorted by `order`."""
    direction: str = ""
    dates: DateRange | None = None
    members: Mapping[str, Member] = field(default_factory=dict)
    """The filters by rows of another table, by name. They are used if many of these rows match. If few rows match,
    the condition in `filters` is faster.
    """

    def page(self, tx: Transaction, record: str, query: PageQuery, values: Mapping[str, object]) -> Page:
        """Return a page of the list. `record` is the SQL of a record, and `values` are the filters. Raise Problem
        (422) if the page has too many large records.
        """
        planned, given = self._sorted(query.sort)._prepared(tx, values, query.per_page)
        found = planned._joined(tx, record, given, "", query.per_page, query.offset)
        counted = self if tx.within is None and self.members.keys().isdisjoint(given) else planned
        total = counted._total(tx, given)
        if not found.is_cut:
            return Page(found.records, total)
        refuse_large_page(query)
        sql, parameters = planned._chosen("''", given, "")
        limits = {"limit": query.per_page, "offset": query.offset, "separator": ""}
        ids = read_joined(tx, sql, {**parameters, **limits}).positions.split(",")
        return Page(found.records, total, [int(each) for each in ids], found.number)

    def after(
        self, tx: Transaction, record: str, query: CursorQuery, position: int, values: Mapping[str, object]
    ) -> CursorPage:
        """Return the records after the position, in the list's order. `record` is the SQL of a record, and
        `values` are the filters.
        """
        planned, values = self._prepared(tx, values, query.per_page, position)
        beyond = planned._beyond()
        found = planned._joined(tx, record, values, beyond, query.per_page, 0, {"position": position})
        is_full = found.is_cut or found.number == query.per_page
        more = is_full and any(
            tx.value(f"SELECT 1 FROM {self.source}{where} LIMIT 1", {**given, "position": found.last})
            for where, given in planned._branches(values, beyond)
        )
        return CursorPage(found.records, found.last if found.number else position, more, found.positions)

    def of(self, tx: Transaction, record: str, column: str, ids: Sequence[int]) -> Records:
        """Return the records that have one of the ids in `column`, which must have an index. `record` is the SQL
        of a record. Raise Problem (413) if the records are too large.
        """
        shown = _shown(tx, record)
        wanted = f"SELECT {shown} AS record FROM {self.source} WHERE {column} IN (SELECT value FROM json_each(?))"
        return in_parts(
            ids,
            self.at_once,
            lambda some: tx.value(f"SELECT group_concat(record, ',') FROM ({wanted})", (dumps(some),)),
        )

    def _total(self, tx: Transaction, values: Mapping[str, object]) -> int:
        if not values and self.count:
            return tx.value("SELECT rows FROM row_counts WHERE name = ?", (self.count,)) or 0
        if len(values) == 1 and (name := next(iter(values))) in self.members:
            member = self.members[name]
            return tx.number(COUNT.format(rows=f"SELECT DISTINCT {member.column} {member.met}"), dict(values))
        if self.tally is not None and self.tally.applies(values):
            return self.tally.total(tx, values)
        return sum(
            tx.value(f"SELECT count(*) FROM {self.source}{where}", given)
            for where, given in self._branches(values)
        )

    def _joined(
        self,
        tx: Transaction,
        record: str,
        values: Mapping[str, object],
        beyond: str,
        number: int,
        offset: int,
        others: Mapping[str, object] = MappingProxyType({}),
    ) -> Joined:
        """Read up to `number` records, starting at `offset`. Return as many of them as fit on a page, but at least
        one.

        `values` are the filters. `beyond` is an additional SQL condition, and `others` are its parameters.
        """
        separator = END if tx.csv is not None and isinstance(record, RecordSql) else ","
        sql, parameters = self._chosen(_shown(tx, record), values, beyond)
        parameters |= {**others, "separator": separator}
        found: list[Joined] = []
        room, left, is_cut = joined_records.LARGEST_PAGE, number, False
        while left > 0:
            limits = {"limit": min(left, self.at_once), "offset": offset + number - left}
            some = read_joined(tx, sql, {**parameters, **limits})
            if some.number and some.size > room:
                some = cut_to(tx, sql, {**parameters, **limits}, some, room, is_first=not found)
            found += [some] if some.number else []
            room -= some.size
            is_cut = some.is_cut  # also if not even the first record of a part fitted
            left = 0 if is_cut or some.number < limits["limit"] else left - some.number
        return together(found, separator)._replace(is_cut=is_cut)

    def _chosen(self, record: str, values: Mapping[str, object], beyond: str) -> tuple[str, dict[str, object]]:
        """Return a SELECT and its parameters. It selects the records and their positions, in the order of the
        list. `beyond` is an SQL condition in addition to the filters.
        """
        branches = list(self._branches(values, beyond))
        if len(branches) == 1 and not self.sort.startswith("+"):
            ((where, parameters),) = branches
            in_order = self._in_order(self._key, self.order)
            return _select(record, self.order, f"{self.source}{where}", in_order), parameters
        # Each branch is read from its index in order, and SQLite merges them without sorting. If rows must be
        # sorted, that is done without the records. Only the records of the page are rendered.
        places = " UNION ALL ".join(
            f"SELECT {self._key} AS sort_key, {self.order} AS entry FROM {self.source}{where}"
            for where, _ in branches
        )
        in_order = f"ORDER BY {self._in_order('sort_key', 'entry')}"
        chosen = (
            f"SELECT {record} AS record, {self.order} AS place FROM ({places} {in_order} {SLICE}) "
            f"CROSS JOIN {self.source} WHERE {self.order} = entry {in_order}"
        )
        return chosen, {name: value for _, given in branches for name, value in given.items()}

    def _prepared(
        self, tx: Transaction, values: Mapping[str, object], per_page: int, position: int = 0
    ) -> tuple["Listing", Mapping[str, object]]:
        """Return a copy of this list with the best query plan, and the parameters of its filters.

        If `tx.within` restricts the list to some ids, the plan reads the records by id and then sorts them.
        """
        if tx.within is None:
            return self._planned(tx, values, per_page, position), values
        filters, given = dict[str, str](), dict[str, object]()
        for name, value in values.items():
            condition, given[name] = f"+{self.filters[name]}", value
            if isinstance(value, tuple):
                condition, given[name] = condition.replace(f"= :{name}", f"IN {AMONG.format(name)}"), dumps(value)
            filters[name] = condition
        filters["within"], given["within"] = f"{self.order} IN {AMONG.format('within')}", dumps(list(tx.within))
        return replace(self, sort=f"+{self._key}", filters=filters, tally=None, count="", members={}), given

    def _planned(
        self, tx: Transaction, values: Mapping[str, object], per_page: int, position: int = 0
    ) -> "Listing":
        """Return a copy of this list with the best query plan. A `+` before a column keeps SQLite from using its
        index.

        Other methods plan filters by date, or by rows of other tables. This method plans filters by the time of
        change:
        - If few records match, find them with the index of changes, and sort them.
        - If reading the list in its own order soon finds enough matching records for a page, read it in this
          order.
        - Otherwise, for example at the end of a long list, sort the matching records.
        """
        member = next((name for name in self.members if name in values), None)
        if member is not None:
            return self._planned_by_member(tx, values, member)
        recent = next((name for name in RECENT if name in values), None)
        if recent is None:
            return self._planned_by_date(tx, values)
        branches = list(self._branches(values))
        if len(branches) > 1:
            return self
        ((_, given),) = branches
        condition = self.filters[recent]
        sorted_afterwards = replace(self, sort=f"+{self._key}")
        met = f"SELECT 1 FROM {self.source} WHERE {condition} LIMIT {FEW}"
        if tx.number(COUNT.format(rows=met), {recent: given[recent]}) < FEW:
            others = {name: f"+{other}" for name, other in self.filters.items() if name != recent}
            return replace(sorted_afterwards, filters={**others, recent: condition})
        ((where, _),) = replace(self, filters={**self.filters, recent: "TRUE"})._branches(values, self._beyond())
        in_order = self._in_order(self._key, self.order)
        ahead = f"SELECT +{condition} AS is_recent FROM {self.source}{where} ORDER BY {in_order}"
        near = f"SELECT 1 FROM ({ahead} LIMIT {NEAR * per_page}) WHERE is_recent LIMIT {per_page}"
        if tx.number(COUNT.format(rows=near), {**given, "position": position}) == per_page:
            return replace(self, filters={**self.filters, recent: f"+{condition}"})
        return sorted_afterwards

    def _planned_by_member(self, tx: Transaction, values: Mapping[str, object], name: str) -> "Listing":
        """Return a copy of this list, planned for a filter by rows of another table. If few of these rows match,
        the plan reads them first.
        """
        member = self.members[name]
        others = {other: f"+{condition}" for other, condition in self.filters.items()}
        if tx.number(COUNT.format(rows=f"{member.rows} LIMIT {FEW}"), {name: values[name]}) < FEW:
            return replace(self, sort=f"+{self._key}", filters={**others, name: self.filters[name]})
        return replace(self, filters={**self.filters, name: member.of_each(self.order)})

    def _planned_by_date(self, tx: Transaction, values: Mapping[str, object]) -> "Listing":
        """Return a copy of this list, planned for a filter by date. If few records match, the plan finds them by
        date and sorts them.
        """
        days = [] if self.dates is None else [name for name in self.dates.conditions if name in values]
        if not days or self._is_by_date:
            return self
        branches = list(self._branches(values))
        met = " UNION ALL ".join(f"SELECT 1 FROM {self.source}{where}" for where, _ in branches)
        given = {name: value for _, each in branches for name, value in each.items()}
        if tx.number(COUNT.format(rows=f"{met} LIMIT {FEW}"), given) < FEW:
            return replace(self, sort=f"+{self._key}")
        return replace(self, filters={**self.filters, **{name: f"+{self.filters[name]}" for name in days}})

    @property
    def _key(self) -> str:
        return self.sort or self.order

    @property
    def _is_by_date(self) -> bool:
        return self.dates is not None and self.sort.removeprefix("+") == self.dates.column

    def _in_order(self, key: str, place: str) -> str:
        """Return the terms of ORDER BY. The first term is `key`. A list that is sorted by date also has the term
        `place`, which is the SQL of the record's position. In such a list, records without a date come last.
        """
        if not self._is_by_date:
            return key + self.direction
        return f"{key}{self.direction} NULLS LAST, {place}{self.direction}"

    def _sorted(self, sort: str) -> "Listing":
        """Return a copy of this list in the requested order, such as `-code`."""
        if sort == "id":
            return self
        name = sort.removeprefix("-")
        column = {"id": self.order, "updated_at": "change_seq"}.get(name, name)
        return replace(self, sort=column, direction=" DESC" if sort.startswith("-") else "")

    def _beyond(self) -> str:
        return f"{self.order} > :position + 0"

    def _branches(self, values: Mapping[str, object], *conditions: str) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield one or more WHERE clauses, each with its parameters. The list consists of the records that any of
        them selects.

        If a filter has several values, each value has its own clause. `conditions` are added to each clause.
        """
        if self.tally is not None and "status" not in values and self._is_within_statuses(values):
            values = {**values, "status": self.tally.statuses}
        several = next((name for name, value in values.items() if isinstance(value, tuple)), None)
        if several is None:
            yield self._where([*conditions, *(self.filters[name] for name in values)]), dict(values)
            return
        members = values[several]
        assert isinstance(members, tuple)
        others = {name: value for name, value in values.items() if name != several}
        for number, member in enumerate(members):
            parameter = f"{several}_{number}"
            condition = self.filters[several].replace(f":{several}", f":{parameter}")
            every = [*conditions, condition, *(self.filters[name] for name in others)]
            yield self._where(every), {**others, parameter: member}

    def _is_within_statuses(self, values: Mapping[str, object]) -> bool:
        """Return True if the records of each status should be read separately. The reason is an index that sorts
        them by partner or by date, but only within a status.
        """
        if any(name in values for name in RECENT):
            return False
        dates = self.dates
        has_days = dates is not None and any(name in values for name in dates.conditions)
        return set(values) == {"partner_id"} or has_days or (dates is not None and self.sort == dates.column)

    @staticmethod
    def _where(conditions: list[str]) -> str:
        every = [condition for condition in conditions if condition]
        return f" WHERE {' AND '.join(every)}" if every else ""


@lru_cache(STATEMENTS)
def _select(record: str, position: str, source: str, order: str) -> str:
    """Return the SELECT of records and their positions. `position` is the SQL of the position, and `order` has the
    terms of ORDER BY.
    """
    return f"SELECT {record} AS record, {position} AS place FROM {source} ORDER BY {order} {SLICE}"


def _shown(tx: Transaction, record: str) -> str:
    """Return the SQL of a record in the form that the request needs: a line of CSV, or JSON, which may be
    shortened.
    """
    if not isinstance(record, RecordSql):
        return record
    if tx.csv is not None:
        return tx.csv.render(tx, record)
    if tx.is_brief:
        return record.brief
    return record if tx.needed_fields is None else record.with_needed(tx.needed_fields)
