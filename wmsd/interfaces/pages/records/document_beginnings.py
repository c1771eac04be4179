"""The values with which the form of a new document starts if the document is created from another document.

For example, a reception is created from a purchase order, and a return from a sales order.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from decimal import ROUND_DOWN, Decimal
from typing import Any, Final, NamedTuple

from wmsd.base.plurals import first_few
from wmsd.base.problems import Problem
from wmsd.contract.list_queries import MOST_IDS
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.form_fields import BETWEEN, FormField, Typed
from wmsd.interfaces.pages.kit.forms import find_id
from wmsd.interfaces.pages.kit.references import Referred, find_references
from wmsd.interfaces.pages.kit.resources import BY_NAME
from wmsd.interfaces.pages.kit.text.language import translate_error
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.numbers import number_in_form
from wmsd.interfaces.pages.kit.text.words import grouped_number
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.warehouse.stock.actions import find_stock, list_stock


class Beginning(NamedTuple):
    """The values with which a form starts. `notes` has the notes next to fields, by the names of the fields."""

    typed: Typed
    notes: Mapping[str, str]


IDS: Final = re.compile(r"[0-9]{1,15}(,[0-9]{1,15}){0,499}", re.ASCII)
"""A pattern for ids that are separated by commas. It allows 500 ids, the most that people can choose in a list."""
MILLIONTH: Final = Decimal("0.000001")
ITEM: Final = "po_item_id"
"""The hidden field of a row with the id of an order's item. The row receives goods for this item."""


async def beginning_of(
    at: Workplace, resource: Resource, fields: tuple[FormField, ...], query: Mapping[str, str]
) -> Beginning:
    """Return the values with which a form starts. `query` has the parameters in the address of the form.

    A parameter is the value of a field, or the id of the record from which the new document is created.
    """
    sources = (SOURCES[resource.name], *FURTHER.get(resource.name, ())) if resource.name in SOURCES else ()
    for source in sources:
        if IDS.fullmatch(query.get(source.parameter, "")):
            return await source.begin(at, query[source.parameter])
    asked = {field.name for field in fields if field.asks not in ("rows", "secret")}
    return Beginning({name: value for name, value in query.items() if name in asked}, {})


async def beginning_of_code(at: Workplace, resource: Resource, typed: Typed) -> Beginning:
    """Return the values with which a form starts, from the document whose code the person has typed.

    Raise ValueError with a sentence for people if there is no such document.
    """
    source = SOURCES[resource.name]
    code = str(typed.get(source.parameter, "")).strip()
    if not code:
        raise ValueError(translate_error("is required"))
    return await source.begin(at, str(await find_id(at, BY_NAME[source.resource], code)))


async def open_notes(at: Workplace, resource: Resource, typed: Typed) -> dict[str, str]:
    """Return notes for the rows of a form that was sent. A note says which quantity of the row's item is still
    open.

    The item's id in the row selects the note, because row numbers can change: rows without input move to the end.
    """
    try:
        beginning = await beginning_of_code(at, resource, typed)
    except (ValueError, Problem):  # the page shows this error at the field of the code
        return {}
    by_item = {}
    for name, note in beginning.notes.items():
        row, _dot, quantity = name.rpartition(BETWEEN)
        by_item[beginning.typed[f"{row}{BETWEEN}{ITEM}"]] = quantity, note
    notes = {}
    for name, item in typed.items():
        row, _dot, field = name.rpartition(BETWEEN)
        if field == ITEM and item in by_item:
            quantity, note = by_item[item]
            notes[f"{row}{BETWEEN}{quantity}"] = note
    return notes


class Source(NamedTuple):
    resource: str
    parameter: str
    begin: Callable[[Workplace, str], Awaitable[Beginning]]


async def _of_purchase_order(at: Workplace, order_id: str) -> Beginning:
    """Return the values for a reception from a purchase order. Each row has the open quantity of an item.

    Quantities are in the unit of receptions. If all goods were received, return all items without a quantity,
    because the order's tolerance may still allow more.
    """
    order, known = await _document(at, "purchase-orders", order_id)
    typed: Typed = {"purchase_order": order["code"], "warehouse": _code(known, order, "warehouse_id")}
    notes = {}
    lacking = [each for each in order["items"] if each["received_quantity"] < each["quantity"]]
    for number, item in enumerate(lacking or order["items"]):
        row = f"selected_items.{number}"
        typed |= {f"{row}.po_item_id": str(item["id"]), f"{row}.article_code": item["article_code"]}
        article = known.get(("article_id", item["article_id"]))
        if article is None or not lacking:  # without the article, the unit of receptions is unknown
            continue
        still_open = (item["quantity"] - item["received_quantity"]) / Decimal(article["um3pl_factor"])
        still_open = still_open.quantize(MILLIONTH, ROUND_DOWN).normalize() + 0
        typed[f"{row}.quantity_um3pl"] = number_in_form(still_open)
        unit = article.get("unit_3pl") or article.get("unit", "")
        notes[f"{row}.quantity_um3pl"] = _("still to receive: %(open)s %(unit)s") % {
            "open": grouped_number(still_open),
            "unit": unit,
        }
    return Beginning(typed, notes)


async def _of_sales_order(at: Workplace, order_id: str) -> Beginning:
    """Return the values for a return from a sales order. The rows are the lines of the order.

    People remove the lines whose goods do not come back.
    """
    order, known = await _document(at, "sales-orders", order_id)
    typed: Typed = {
        "sales_order": order["code"],
        "partner": _code(known, order, "partner_id"),
        "warehouse": _code(known, order, "warehouse_id"),
    }
    for number, line in enumerate(order["lines"]):
        row = f"lines.{number}"
        typed |= {
            f"{row}.article_code": line["article_code"],
            f"{row}.quantity": number_in_form(line["quantity"]),
            f"{row}.lot_number": line["lot_number"] or "",
            f"{row}.serials": "\n".join(line["serials"] or ()),
        }
    return Beginning(typed, {})


async def _of_count(at: Workplace, count_id: str) -> Beginning:
    """Return the values for a new count from a finished count. The rows are the lines that were not booked."""
    count, known = await _document(at, "counts", count_id)
    goods = [line for line in count["lines"] if line["booked_quantity"] is None]
    blind: Typed = {"is_blind": "true"} if count["is_blind"] else {}
    return Beginning(_counted(_code(known, count, "warehouse_id"), goods) | blind, {})


async def _of_warehouse(at: Workplace, warehouse_id: str) -> Beginning:
    """Return the values for a count of this warehouse.

    The form starts without lines. If people add no lines, all goods of the warehouse are counted.
    """
    warehouse, _known = await _document(at, "warehouses", warehouse_id)
    return Beginning({"warehouse": warehouse["code"]}, {})


async def _of_article(at: Workplace, article_id: str) -> Beginning:
    """Return the values for a count of this article.

    If only one warehouse has stock of the article, the form starts with this warehouse.
    """
    article, _known = await _document(at, "articles", article_id)
    found: list[Mapping[str, Any]] = []
    if at.may(list_stock):
        found = (await at.need(list_stock, query={"article_id": article_id}, is_counted=True))["data"]
    warehouse = found[0]["warehouse_code"] if len(found) == 1 else ""
    return Beginning(_counted(warehouse, [{"article_code": article["code"]}]), {})


async def _of_stock(at: Workplace, ids: str) -> Beginning:
    """Return the values for a count of these stock records.

    Raise Problem (422) if they are in several warehouses.
    """
    wanted = list(dict.fromkeys(ids.split(",")))
    records: list[Mapping[str, Any]] = []
    for start in range(0, len(wanted), MOST_IDS):
        some = ",".join(wanted[start : start + MOST_IDS])
        records += (await at.need(find_stock, query={"ids": some}, is_counted=True))["data"]
    warehouses = sorted({each["warehouse_code"] for each in records})
    if len(warehouses) > 1:
        named = ", ".join(first_few(warehouses))
        raise Problem(
            "VALIDATION_FAILED", f"A count covers one warehouse, but these stock records are in several: {named}."
        )
    return Beginning(_counted("".join(warehouses), records), {})


def _counted(warehouse: str, goods: Sequence[Mapping[str, Any]]) -> Typed:
    typed: Typed = {"warehouse": warehouse}
    for number, each in enumerate(goods):
        typed |= {
            f"lines.{number}.{name}": each[name]
            for name in ("article_code", "lot_number", "serial")
            if each.get(name) is not None
        }
    return typed


async def _document(at: Workplace, name: str, document_id: str) -> tuple[Mapping[str, Any], Referred]:
    """Return the document, and the records to which it refers. Raise Problem if the document cannot be read."""
    resource = BY_NAME[name]
    assert resource.one is not None
    document = await at.need(resource.one, path={"id": document_id}, is_counted=True)
    return document, await find_references(at, resource.fields.values(), [document])


def _code(known: Referred, document: Mapping[str, Any], field: str) -> str:
    """Return the code of the record to which `field` refers. Return "" if the person may not read the record."""
    found = known.get((field, document[field]))
    return "" if found is None else str(found["code"])


SOURCES: Final[Mapping[str, Source]] = {
    "receptions": Source("purchase-orders", "purchase_order", _of_purchase_order),
    "returns": Source("sales-orders", "sales_order", _of_sales_order),
    "counts": Source("counts", "count", _of_count),
}
"""For each kind of document: the kind of record from which people can create the document. People type the code of
this record in the form.
"""
FURTHER: Final[Mapping[str, tuple[Source, ...]]] = {
    "counts": (
        Source("warehouses", "in_warehouse", _of_warehouse),
        Source("articles", "article", _of_article),
        Source("stock", "stock", _of_stock),
    )
}
"""Further kinds of records from which a document can be created. Only a link to the form can name such a record,
by its id.
"""
