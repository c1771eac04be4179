"""The notes next to the lines of a form: the name of the article, and its available quantity.

A note also says if the article is not active. If the quantity is in 3PL units, the note says how many units one
3PL unit has.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any, Final, NamedTuple

from wmsd.interfaces.pages.kit.fields import name_of
from wmsd.interfaces.pages.kit.form_fields import BETWEEN, FormField, Typed
from wmsd.interfaces.pages.kit.resources import BY_NAME
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.words import grouped_number
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.warehouse.search.actions import find_articles_of_codes

ARTICLE: Final = "article_code"
QUANTITY_3PL: Final = "quantity_um3pl"
WAREHOUSE: Final = "warehouse"
MOST_WAREHOUSES: Final = 10
"""The maximum number of warehouses in a form whose lines get notes. Lines of further warehouses get no notes."""


class Line(NamedTuple):
    """A line of a form.

    `begin` is the first part of the names of its fields. `warehouse` is the code of the line's warehouse or, if
    the line has none, of the form's warehouse.
    """

    field: FormField
    begin: str
    article: str
    warehouse: str


async def line_notes(
    at: Workplace, fields: Iterable[FormField], typed: Typed, row_counts: Mapping[str, int]
) -> dict[str, str]:
    """Return the notes for lines, by the name of the field. Return {} if the person may not read articles.

    `row_counts` has the number of lines by the name of the field with the lines.
    """
    if not at.may(find_articles_of_codes):
        return {}
    by_warehouse: dict[str, list[Line]] = defaultdict(list)
    for line in _lines(fields, typed, row_counts):
        by_warehouse[line.warehouse].append(line)
    notes: dict[str, str] = {}
    for warehouse, lines in islice(by_warehouse.items(), MOST_WAREHOUSES):
        articles = await _articles(at, {line.article for line in lines}, warehouse)
        described: dict[tuple[str, str], Mapping[str, str]] = {}
        for line in lines:
            key = line.field.name, line.article
            if key not in described:
                described[key] = _of_line(line, articles[line.article]) if line.article in articles else {}
            for column, note in described[key].items():
                notes[line.begin + column] = note
    return notes


def _lines(fields: Iterable[FormField], typed: Typed, row_counts: Mapping[str, int]) -> Iterator[Line]:
    def text(name: str) -> str:
        return str(typed.get(name, "")).strip()

    for field in fields:
        if field.asks == "rows" and any(inner.name == ARTICLE for inner in field.of):
            warehouse = text(WAREHOUSE)
            for number in range(row_counts[field.name]):
                begin = f"{field.name}{BETWEEN}{number}{BETWEEN}"
                if article := text(f"{begin}{ARTICLE}"):
                    yield Line(field, begin, article, text(f"{begin}{WAREHOUSE}") or warehouse)


async def _articles(at: Workplace, codes: Iterable[str], warehouse: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the articles by their codes. If the warehouse cannot be found, their `available` is None."""
    query, warehouses = {"codes": "\n".join(codes)}, BY_NAME["warehouses"]
    warehouse_id = await at.id_of(warehouses, warehouse) if warehouse and at.may(warehouses.listing) else None
    if warehouse_id is not None:
        query["warehouse_id"] = str(warehouse_id)
    found = await at.ask(find_articles_of_codes, query=query, is_counted=True)
    articles = found.body["data"] if found.is_good else []
    is_unknown = bool(warehouse) and warehouse_id is None
    return {each["code"]: {**each, "available": None} if is_unknown else each for each in articles}


def _of_line(line: Line, article: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the notes of a line by the names of its columns."""
    asks_3pl = any(inner.name == QUANTITY_3PL for inner in line.field.of)
    notes = {
        ARTICLE: _of_article(article, is_taken=line.field.takes_rows),
        QUANTITY_3PL: _of_unit(article) if asks_3pl else "",
    }
    return {column: note for column, note in notes.items() if note}


def _of_article(article: Mapping[str, Any], is_taken: bool) -> str:
    """Return the note about an article.

    `is_taken` is True if people choose the article in this form. If it is False, the note leaves out the available
    quantity.
    """
    if not article["active"]:
        return _("%(name)s: not active") % article
    if article["available"] is None or not is_taken:
        return str(article["name"])
    available = grouped_number(article["available"])
    return _("%(name)s: %(available)s %(unit)s available") % {**article, "available": available}


def _of_unit(article: Mapping[str, Any]) -> str:
    factor, unit_3pl = Decimal(article["um3pl_factor"]), article["unit_3pl"]
    if unit_3pl is None and factor == 1:
        return ""
    named = {
        "factor": grouped_number(factor.normalize() + 0),
        "unit": article["unit"],
        "unit_3pl": unit_3pl or name_of("unit_3pl"),
    }
    return _("%(factor)s %(unit)s in one %(unit_3pl)s") % named
