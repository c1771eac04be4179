"""The kinds of labels for each kind of record, and the content of the labels."""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from math import ceil
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.contract.operation import Operation
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.barcodes import code_barcode, gs1_barcode, gtin_of, product_barcode
from wmsd.interfaces.pages.kit.references import find_references
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.paper.goods_lines import LINES_OF, GoodsLine, goods_lines
from wmsd.interfaces.pages.paper.prints import partner_of
from wmsd.warehouse.articles.actions import find_articles
from wmsd.warehouse.purchase_orders.kind import PURCHASE_ORDERS
from wmsd.warehouse.receptions.kind import RECEPTIONS
from wmsd.warehouse.returns.kind import RETURNS
from wmsd.warehouse.sales_orders.kind import SALES_ORDERS
from wmsd.warehouse.stock.actions import find_stock, find_stock_of_articles

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_LABELS: Final = 1000
"""The maximum number of labels on a page."""
LOT, SERIAL = "10", "21"
"""The application identifiers of GS1 for a lot and a serial."""
REFERENCES: Final = ("customer_reference", "external_ref")


class Label(NamedTuple):
    title: str
    name: str
    details: tuple[str, ...]
    barcode: "Markup | None"
    text: str
    """The content of the barcode, as text for people."""
    copies: int = 1
    """The number of copies if the person types no number. A line of a document without serials gets one copy for
    each unit of its goods.
    """


class TooMany(Exception):
    """The error for too many labels for one page. It is raised before a barcode is drawn.

    `total` is the number of labels.
    """

    def __init__(self, total: int) -> None:
        super().__init__(total)
        self.total = total


def within_bounds(names: Collection[str]) -> Collection[str]:
    """Return `names` unchanged. Raise TooMany if one page cannot hold a label for each name."""
    if len(names) > MOST_LABELS:
        raise TooMany(len(names))
    return names


LabelsOf = Callable[[Workplace, Resource, Mapping[str, Any]], Awaitable[list[Label]]]
"""A function that returns the labels of a record. It raises TooMany if one page cannot have so many labels."""


@dataclass(frozen=True, slots=True)
class LabelKind:
    name: str
    """The name in addresses."""
    text: str
    labels: LabelsOf
    empty: str = ""
    """The message for a record that has no labels of this kind."""
    reads: Operation | None = None
    """An operation that the person must be allowed to use, besides the operation that reads the record."""
    is_numbered: bool = False


async def _of_article(at: Workplace, resource: Resource, record: Mapping[str, Any]) -> list[Label]:
    return [_article_label(record, record["unit"])]


async def _of_lots(at: Workplace, resource: Resource, record: Mapping[str, Any]) -> list[Label]:
    """Return a label for each lot of the article `record` that is in stock in any warehouse."""
    query = {"ids": str(record["id"]), "detail": "lots"}
    found = (await at.need(find_stock_of_articles, query=query, is_counted=True))["data"]
    lots = dict.fromkeys(lot["lot_number"] for each in found for lot in each["lots"] if lot["quantity"])
    return [_part_label(record, record["unit"], lot, "") for lot in within_bounds(lots)]


async def _of_stock(at: Workplace, resource: Resource, record: Mapping[str, Any]) -> list[Label]:
    article = await _article_of(at, record)
    return [_article_label(article, article["unit"])]


async def _of_lots_there(at: Workplace, resource: Resource, record: Mapping[str, Any]) -> list[Label]:
    """Return a label for each lot that is in stock in the stock record `record`."""
    article, there = await _article_of(at, record), await _detailed(at, record)
    lots = [lot["lot_number"] for lot in there["lots"] if lot["quantity"]]
    return [_part_label(article, article["unit"], lot, "") for lot in within_bounds(lots)]


async def _of_serials_there(at: Workplace, resource: Resource, record: Mapping[str, Any]) -> list[Label]:
    article, there = await _article_of(at, record), await _detailed(at, record)
    serials = within_bounds(there["serials"] or ())
    return [_part_label(article, article["unit"], "", serial) for serial in serials]


async def _article_of(at: Workplace, record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the article of the stock record `record`.

    If the person may not read articles, the result has only what the stock record says: the code and the name.
    """
    known = {"code": record["article_code"], "name": record["article_name"], "unit": ""}
    if not at.may(find_articles):
        return known
    found = (await at.need(find_articles, query={"ids": str(record["article_id"])}, is_counted=True))["data"]
    return found[0] if found else known


async def _detailed(at: Workplace, record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the stock record with its lots and serials."""
    query = {"ids": str(record["article_id"]), "detail": "lots"}
    found = (await at.need(find_stock_of_articles, query=query, is_counted=True))["data"]
    nothing: Mapping[str, Any] = {"lots": (), "serials": ()}
    return next((each for each in found if each["id"] == record["id"]), nothing)


async def _of_goods(at: Workplace, resource: Resource, record: Mapping[str, Any]) -> list[Label]:
    """Return the labels for the goods of all lines of the document `record`.

    A line with serials has a label for each serial. Any other line has one label, with one copy for each unit.
    """
    referred = await find_references(at, resource.fields.values(), [record])
    lines = goods_lines(record, LINES_OF[resource.name], referred)
    within_bounds([serial for line in lines for serial in line.serials])
    return [label for line in lines for label in _goods_labels(line)]


async def _of_document(at: Workplace, resource: Resource, record: Mapping[str, Any]) -> list[Label]:
    referred = await find_references(at, resource.fields.values(), [record])
    partner = await partner_of(at, record, referred)
    references = tuple(record[name] for name in REFERENCES if record.get(name))
    name = "" if partner is None else partner["name"]
    return [Label(record["code"], name, references, code_barcode(record["code"]), record["code"])]


def _goods_labels(line: GoodsLine) -> Iterator[Label]:
    if line.serials:
        for serial in line.serials:
            yield _part_label(line.article, line.unit, line.lot, serial)
        return
    label = (
        _part_label(line.article, line.unit, line.lot, "") if line.lot else _article_label(line.article, line.unit)
    )
    yield label._replace(copies=ceil(line.amounts[0][0]))


def _article_label(article: Mapping[str, Any], unit: str) -> Label:
    """Return a label with the barcode of the article's GTIN. If the article has no GTIN, use its code."""
    written = next((each for each in _barcodes(article) if gtin_of(each)), None)
    text = written or article["code"]
    barcode = code_barcode(text) if written is None else product_barcode(written)
    return Label(article["code"], article.get("name", ""), (unit,), barcode, text)


def _part_label(article: Mapping[str, Any], unit: str, lot: str, serial: str) -> Label:
    """Return a label for goods with a lot, a serial or both. If there is no lot or no serial, the argument is "".

    If the article has a GTIN and GS1 allows the values, the barcode has the format of GS1. Otherwise it contains
    the serial or, without a serial, the lot.
    """
    parts = {name: each for name, each in ((LOT, lot), (SERIAL, serial)) if each}
    gtin = next(filter(None, map(gtin_of, _barcodes(article))), None)
    barcode = None if gtin is None else gs1_barcode(gtin, parts)
    text = "".join(f"({name}){each}" for name, each in {"01": gtin, **parts}.items()) if barcode else serial or lot
    named = ((_("Lot"), lot), (_("Serial"), serial))
    details = tuple(f"{name}: {each}" for name, each in named if each)
    return Label(article["code"], article.get("name", ""), (unit, *details), barcode or code_barcode(text), text)


def _barcodes(article: Mapping[str, Any]) -> Iterator[str]:
    if article.get("barcode"):
        yield article["barcode"]
    yield from article.get("barcodes", ())


GOODS: Final = LabelKind("goods", "Goods of all lines, one label per unit", _of_goods)
PALLETS: Final = LabelKind("pallets", "Pallets, numbered 1 of N", _of_document, is_numbered=True)
LABELS: Final[Mapping[str, tuple[LabelKind, ...]]] = {
    "articles": (
        LabelKind("article", "Article", _of_article),
        LabelKind(
            "lots", "Lots in stock", _of_lots, "No lot of this article is in stock.", find_stock_of_articles
        ),
    ),
    "stock": (
        LabelKind("article", "Article", _of_stock),
        LabelKind("lots", "Lots in stock", _of_lots_there, "This stock record has no lots."),
        LabelKind("serials", "Serials in stock", _of_serials_there, "This stock record has no serials."),
    ),
    SALES_ORDERS.name: (LabelKind("order", "Order", _of_document), PALLETS, GOODS),
    PURCHASE_ORDERS.name: (GOODS,),
    RECEPTIONS.name: (GOODS, PALLETS),
    RETURNS.name: (GOODS,),
}
"""The kinds of labels by the name of the resource."""
FOUND_BY: Final = {"articles": find_articles, "stock": find_stock}
"""The operations that read several records at once, so that their labels can be printed together."""
