"""The table of companies on the page Today.

Functions build the rows, because a template needed most of the page's time for 50 companies.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup, escape

from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.words import grouped_number, moment
from wmsd.warehouse.documents.kind import DocumentKind
from wmsd.warehouse.purchase_orders.kind import PURCHASE_ORDERS
from wmsd.warehouse.sales_orders.kind import SALES_ORDERS

NOT_SEEN: Final = '<td class="num zero">\N{EN DASH}</td>'
ZERO: Final = '<td class="num zero">0</td>'


class Column(NamedTuple):
    """A column of the table. Each company has a number in the column.

    `tone` is the CSS class of a number other than 0. `path` is the address of the list with the counted records,
    relative to the address of the company. `limit` is the name of a second number, such as a total. The cell then
    shows the first number as a part of the second.
    """

    name: str
    heading: str
    tone: str = ""
    path: str = ""
    limit: str = ""


def today_columns(day: str) -> Sequence[Column]:
    """Return the columns in the language of the page. `day` is today's date, such as 2026-11-24."""
    before = (date.fromisoformat(day) - timedelta(days=1)).isoformat()
    return (
        Column("late_orders", _("Late sales orders"), "bad", _due_list(SALES_ORDERS, last=before)),
        Column("to_load_today", _("Orders to load today"), path=_due_list(SALES_ORDERS, day, day)),
        Column("orders_not_taken", _("Orders not started"), path="/sales-orders?status=CREAT"),
        Column("orders_in_work", _("Orders in work"), path="/sales-orders?status=IN_LUCRU"),
        Column("orders_loaded", _("Orders loaded"), path="/sales-orders?status=INCARCAT"),
        Column("late_inbound", _("Late purchase orders"), "bad", _due_list(PURCHASE_ORDERS, last=before)),
        Column("expected_today", _("Purchase orders expected today"), path=_due_list(PURCHASE_ORDERS, day, day)),
        Column("returns_undecided", _("Returns to finish"), "warn", "/returns?status=RECEPTIONAT"),
        Column("counts_to_book", _("Counts to finish"), path="/counts?status=IN_LUCRU"),
        Column("given_up", _("Failed webhook deliveries"), "bad", "/webhooks"),
        Column("low", _("Articles low on stock"), "warn", "/articles?low=true"),
        Column("requests", _("API requests, last minute"), path="/requests", limit="limit"),
        Column("events", _("Events this month"), path="/events"),
    )


def _due_list(kind: DocumentKind, first: str = "", last: str = "") -> str:
    """Return the address of a list of unfinished documents that are due from the day `first` to the day `last`.

    The address is relative to the address of a company. A day may be "" (no limit).
    """
    due = kind.table.due
    assert due is not None
    days = {name: day for name, day in ((due.range.first, first), (due.range.last, last)) if day}
    return f"/{kind.name}?{urlencode({'status': ','.join(due.statuses), **days, 'sort': due.field}, safe=',')}"


def list_of_total(name: str, total: int, companies: Sequence[Mapping[str, Any]]) -> str:
    """Return the address to which a total links. `name` is the name of the column.

    If one company has all counted records, the total links to the list of this company. Otherwise it links to the
    table of all companies.
    """
    having = [each for each in companies if each[name]]
    path = next(each.path for each in today_columns(having[0]["day"]) if each.name == name) if having else ""
    return f"/companies/{having[0]['id']}{path}" if len(having) == 1 and having[0][name] == total else "#companies"


def company_rows(companies: Sequence[Mapping[str, Any]]) -> Markup:
    """Return a table row for each company.

    Each number links to a list of records. Lists by due date use the company's current day. On a phone, each
    number has the heading of its column.
    """
    columns = {day: today_columns(day) for day in {each["day"] for each in companies}}
    return Markup("\n".join(_row(each, columns[each["day"]]) for each in companies))  # noqa: S704 -- names are escaped


def _row(company: Mapping[str, Any], columns: Sequence[Column]) -> str:
    own = f"/companies/{company['id']}"
    mark = f' <span class="soft small">{_("sandbox")}</span>' if company["sandbox"] else ""
    if company["frozen_at"]:
        since = _("frozen since %(moment)s") % {"moment": moment(company["frozen_at"])}
        mark += f' <span class="warn small">{since}</span>'
    if company["storage_percent"] is not None:
        says = _("%(percent)s %% of its storage used") % {"percent": grouped_number(company["storage_percent"])}
        mark += f' <a class="warn small" href="/docs/disk-full#the-share-of-a-company">{says}</a>'
    if company["suspended_at"]:
        since = _("suspended since %(moment)s") % {"moment": moment(company["suspended_at"])}
        mark += f' <span class="bad small">{since}</span>'
    cells = "".join([_cell(company, column, own) for column in columns])
    return f'<tr><td><a href="{own}">{escape(company["name"])}</a>{mark}</td>{cells}</tr>'


def _cell(company: Mapping[str, Any], column: Column, own: str) -> str:
    value = company[column.name]
    if column.limit:
        return _part(value, company[column.limit], column, own)
    if value is None:
        return NOT_SEEN
    if value == 0:
        return ZERO
    shown = f'<a href="{own}{escape(column.path)}">{grouped_number(value)}</a>'
    return f'<td class="num {column.tone}" data-heading="{column.heading}">{shown}</td>'


def _part(value: int, limit: int, column: Column, own: str) -> str:
    of = _("%(part)s of %(whole)s") % {"part": grouped_number(value), "whole": grouped_number(limit)}
    meter = f'<meter min="0" max="{limit}" high="{limit * 9 // 10}" value="{value}"></meter>'
    return f'<td data-heading="{column.heading}">{meter} <a href="{own}{column.path}">{of}</a></td>'
