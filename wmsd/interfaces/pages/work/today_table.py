"""The companies' figures on the page Today. By a template, the rows of 50 companies took most of its time."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from markupsafe import Markup, escape

from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.words import figure, moment

NOT_SEEN: Final = '<td class="num zero">\N{EN DASH}</td>'
ZERO: Final = '<td class="num zero">0</td>'


class Column(NamedTuple):
    """A figure of each company. `tone` is the class of what is not 0, `path` leads to what is counted, and `limit`
    names the figure that this one should stay below.
    """

    name: str
    heading: str
    tone: str = ""
    path: str = ""
    limit: str = ""


def today_columns() -> Sequence[Column]:
    """In the language of the page."""
    return (
        Column("late_orders", _("Late orders"), "bad"),
        Column("orders_in_work", _("In work"), path="/sales-orders?status=IN_LUCRU"),
        Column("orders_loaded", _("Loaded"), path="/sales-orders?status=INCARCAT"),
        Column("late_inbound", _("Inbound late"), "bad"),
        Column("returns_undecided", _("Returns undecided"), "warn", "/returns?status=RECEPTIONAT"),
        Column("given_up", _("Given up"), "bad", "/webhooks"),
        Column("low", _("Under minimum"), "warn", "/stock?low=true"),
        Column("requests", _("Requests, last minute"), limit="limit"),
        Column("events", _("Events billed this month")),
    )


def company_rows(companies: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> Markup:
    """A row of each company. Each figure has its heading, which a phone shows beside it."""
    return Markup("\n".join(_row(each, columns) for each in companies))  # noqa: S704 -- names are escaped


def _row(company: Mapping[str, Any], columns: Sequence[Column]) -> str:
    own = f"/companies/{company['id']}"
    mark = f' <span class="soft small">{_("sandbox")}</span>' if company["sandbox"] else ""
    if company["frozen_at"]:
        since = _("frozen since %(moment)s") % {"moment": moment(company["frozen_at"])}
        mark += f' <span class="warn small">{since}</span>'
    if company["storage_percent"] is not None:
        says = _("%(percent)s %% of its storage used") % {"percent": figure(company["storage_percent"])}
        mark += f' <a class="warn small" href="/docs/disk-full#the-share-of-a-company">{says}</a>'
    if company["suspended_at"]:
        since = _("suspended since %(moment)s") % {"moment": moment(company["suspended_at"])}
        mark += f' <span class="bad small">{since}</span>'
    cells = "".join([_cell(company, column, own) for column in columns])
    return f'<tr><td><a href="{own}">{escape(company["name"])}</a>{mark}</td>{cells}</tr>'


def _cell(company: Mapping[str, Any], column: Column, own: str) -> str:
    value = company[column.name]
    if column.limit:
        return _part(value, company[column.limit], column)
    if value is None:
        return NOT_SEEN
    if value == 0:
        return ZERO
    shown = f'<a href="{own}{column.path}">{figure(value)}</a>' if column.path else figure(value)
    return f'<td class="num {column.tone}" data-heading="{column.heading}">{shown}</td>'


def _part(value: int, limit: int, column: Column) -> str:
    of = _("%(part)s of %(whole)s") % {"part": figure(value), "whole": figure(limit)}
    return (
        f'<td data-heading="{column.heading}">'
        f'<meter min="0" max="{limit}" high="{limit * 9 // 10}" value="{value}"></meter> {of}</td>'
    )
