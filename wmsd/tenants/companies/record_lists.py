"""Records of the installation that admins read in the browser. An admin can list records by page or by cursor, and
get one record by its id.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, NamedTuple

from pydantic import BaseModel, create_model

from wmsd.base.letters import plain
from wmsd.base.problems import or_not_found
from wmsd.contract.context import Caller
from wmsd.contract.list_queries import CursorQuery, PageQuery, Query, SortedBy
from wmsd.contract.operation import Operation, operation
from wmsd.contract.results import CursorPage, Page, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.lists import Listing, conditions
from wmsd.db.sql.records import record_sql

administration = partial(operation, tag="Administration", scope="installation")
for_everybody = partial(administration, role="member")
for_company_admins = partial(administration, role="company-admin")
for_platform_admins = partial(administration, role="platform-admin")
NOW: Final = "now"
"""The name of an SQL parameter with the current time. The parameter is passed like a filter, but callers cannot
send it.
"""
Filters = Callable[[Transaction, Query, Caller], Mapping[str, object]]


def filters_asked(tx: Transaction, query: Query, caller: Caller) -> Mapping[str, object]:
    """Return the filters that the caller has sent."""
    return query.filters()


def filters_at_present(tx: Transaction, query: Query, caller: Caller) -> Mapping[str, object]:
    """Return the filters that the caller has sent, and the current time as the filter `NOW`."""
    return query.filters() | {NOW: tx.timestamp}


class RecordList(NamedTuple):
    """A list of records for admins. Error messages use `noun` for one record, such as "user". `noun` is "" if no
    operation gets a single record.
    """

    noun: str
    table: str
    record: str
    by_page: Operation
    by_cursor: Operation

    def one(self, tx: Transaction, id: int) -> Record:
        """Return the record with this id. Raise Problem (404) if there is no such record.

        This method does not check whether the user may see the record. The caller of the method must check this.
        """
        sql = f"SELECT {self.record} FROM {self.table} WHERE id = :id"
        text = tx.find_text(sql, {"id": id, NOW: tx.timestamp})
        return Record(id, or_not_found(text, self.noun))


def record_list(
    name: str,
    says: str,
    table: str,
    declare: Callable[..., Callable[[Any], Operation]],
    shown: type[BaseModel],
    query: type[Query],
    *,
    noun: str = "",
    columns: dict[str, str] | None = None,
    conditions_of: Mapping[str, str] | None = None,
    hidden: Mapping[str, str] | None = None,
    filters: Filters = filters_asked,
    cursor_says: str = "List the entries by cursor.",
    sort: str = "id",
    orders: Sequence[str] = ("id",),
) -> RecordList:
    """Create the list of a table, with its operations `list_NAME` and `walk_NAME`.

    - `says` and `cursor_says` are the descriptions of these operations.
    - `declare` is the decorator of the operations, such as `for_company_admins`.
    - `columns` has the SQL of fields that are not simply a column.
    - `conditions_of` has the SQL of filters that do not simply compare a column.
    - `hidden` has the SQL of filters that callers cannot send.
    - `filters` returns the values of all filters.
    - `sort` is the default order of a page, and must be one of `orders`.
    """
    own = {NOW: f"(:{NOW} IS NOT NULL)"} | dict(hidden or {})
    listing = Listing(table, "id", conditions(query, **(conditions_of or {})) | own, "")
    record = record_sql(shown, columns)

    def by_page(tx: Transaction, caller: Caller, query: PageQuery) -> Page:
        return listing.page(tx, record, query, _searched(tx, filters(tx, query, caller)))

    def by_cursor(tx: Transaction, caller: Caller, query: CursorQuery, position: int) -> CursorPage:
        return listing.after(tx, record, query, position, _searched(tx, filters(tx, query, caller)))

    by_page.__annotations__["query"] = create_model(
        f"{shown.__name__}PageQuery",
        __base__=(query, PageQuery),
        sort=(Annotated[str, SortedBy(*orders)], sort),
    )
    by_cursor.__annotations__["query"] = create_model(
        f"{shown.__name__}CursorQuery", __base__=(query, CursorQuery)
    )
    by_page.__name__, by_cursor.__name__ = f"list_{name}", f"walk_{name}"
    by_page.__doc__, by_cursor.__doc__ = says, cursor_says
    declare_list = partial(declare, returns=shown)
    return RecordList(
        noun, table, record, declare_list(answer="page")(by_page), declare_list(answer="cursor")(by_cursor)
    )


def _searched(tx: Transaction, values: Mapping[str, object]) -> Mapping[str, object]:
    """Return the filters. If they contain `search`, normalise its text with `plain`. In this case, also define
    `plain` as an SQL function, which the conditions use.
    """
    if "search" not in values:
        return values
    tx.define("plain", plain)
    return {**values, "search": plain(str(values["search"]))}
