"""The notes next to the lines of a form: the name of the article, and its available quantity.

A note also says if the article is not active. If the quantity is in 3PL units, the note says how many units one
3PL unit has.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Any, Final

from wmsd.interfaces.pages.kit.fields import name_of
from wmsd.interfaces.pages.kit.form_fields import FormField, Typed, names_in
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
NoteOf = Callable[[Mapping[str, Any]], str]
"""A function that returns the note about an article, or "" if there is none."""


async def line_notes(
    at: Workplace, fields: Iterable[FormField], typed: Typed, row_counts: Mapping[str, int]
) -> dict[str, str]:
    """Return the notes for lines, by the name of the field. Return {} if the person may not read articles.

    `row_counts` has the number of lines by the name of the field with the lines.
    """
    notes: dict[str, str] = {}
    if at.may(find_articles_of_codes):
        for field in fields:
            if any(column.name == ARTICLE for column in field.of):
                notes |= await _of_lines(at, field, typed, row_counts[field.name])
    return notes


async def _of_lines(at: Workplace, field: FormField, typed: Typed, count: int) -> dict[str, str]:
    """Return the notes for the first `count` lines of `field`. A line without a warehouse has that of the form."""
    names = {column.name: names_in(field, column, count) for column in field.of}
    codes, of_form = _texts(names[ARTICLE], typed), str(typed.get(WAREHOUSE, "")).strip()
    warehouses = _texts(names[WAREHOUSE], typed) if WAREHOUSE in names else [""] * count
    rows_of: dict[str, list[int]] = defaultdict(list)
    for row, code in enumerate(codes):
        if code:
            rows_of[warehouses[row] or of_form].append(row)
    note_of: dict[str, NoteOf] = {ARTICLE: partial(_of_article, is_taken=field.takes_rows), QUANTITY_3PL: _of_unit}
    notes: dict[str, str] = {}
    for warehouse, rows in islice(rows_of.items(), MOST_WAREHOUSES):
        articles = await _articles(at, {codes[row] for row in rows}, warehouse)
        for column in note_of.keys() & names.keys():
            found = {code: note for code, article in articles.items() if (note := note_of[column](article))}
            notes |= {names[column][row]: found[codes[row]] for row in rows if codes[row] in found}
    return notes


def _texts(names: Iterable[str], typed: Typed) -> list[str]:
    return [str(typed.get(name, "")).strip() for name in names]


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
