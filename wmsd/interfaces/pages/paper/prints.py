"""Documents on paper. A page without the menu shows the document, and the browser prints it."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple

from wmsd.base.problems import or_not_found
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.barcodes import code_barcode, qr_code
from wmsd.interfaces.pages.kit.fields import Field
from wmsd.interfaces.pages.kit.references import Referred, find_references
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.text import zone
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.paper.goods_lines import (
    LINES_OF,
    GoodsLine,
    columns_of,
    goods_lines,
    goods_table,
    with_loaded,
)
from wmsd.warehouse.counts.kind import COUNTS
from wmsd.warehouse.papers.actions import get_papers
from wmsd.warehouse.receptions.kind import RECEPTIONS
from wmsd.warehouse.returns.kind import RETURNS
from wmsd.warehouse.sales_orders.actions import list_loaded_goods
from wmsd.warehouse.sales_orders.kind import SALES_ORDERS
from wmsd.warehouse.sales_orders.rules import SHIPPED

PARTNER: Final = "partner_id"
PURCHASE_ORDER: Final = "purchase_order_id"
PAPER_SIZES: Final = {"a4": "A4", "a6": "A6"}
"""The sizes of paper. Each name is a class of the stylesheet."""
OF_COUNT: Final = ("warehouse_id", "external_ref", "notes")


class Print(NamedTuple):
    name: str
    """The name in addresses."""
    title: str
    facts: tuple[str, ...]
    """The fields of the document that are printed above its lines. Empty fields are left out."""
    signatures: tuple[str, ...]
    is_for_picking: bool = False
    """True if the print is for picking: lines are sorted by warehouse and article, and each has a checkbox."""
    has_loaded: bool = False
    """True if the print names the lots and serials that were loaded."""
    counts: Literal["", "expected", "blind"] = ""
    """`expected` or `blind` if people write counted quantities on the print. `expected` also prints expected
    quantities.

    Other prints have "".
    """


PRINTS: Final[Mapping[str, tuple[Print, ...]]] = {
    SALES_ORDERS.name: (
        Print(
            "delivery-note",
            "Delivery note",
            ("warehouse_id", "customer_reference", "requested_date", "carrier", "tracking_number", "notes"),
            ("Handed over by", "Received by"),
            has_loaded=True,
        ),
        Print(
            "pick-list",
            "Pick list",
            ("customer_reference", "requested_date", "carrier", "notes"),
            ("Picked by", "Checked by"),
            is_for_picking=True,
        ),
    ),
    RECEPTIONS.name: (
        Print(
            "goods-received-note",
            "Goods received note",
            ("purchase_order_id", "warehouse_id", "transport_ecc", "external_ref", "notes"),
            ("Delivered by", "Received by"),
        ),
    ),
    RETURNS.name: (
        Print(
            "return-slip",
            "Return slip",
            ("sales_order_id", "warehouse_id", "reason", "external_ref", "notes"),
            ("Returned by", "Received by"),
        ),
    ),
    COUNTS.name: (
        Print("count-sheet", "Count sheet", OF_COUNT, ("Counted by", "Checked by"), counts="expected"),
        Print("blind-count-sheet", "Blind count sheet", OF_COUNT, ("Counted by", "Checked by"), counts="blind"),
    ),
}
"""The prints by the name of the kind of document."""


async def show(at: Workplace, request: web.Request) -> web.Response:
    """Show a document for printing.

    Times are in the time zone of the company, because other people read the print too.
    """
    zone.use(at.zone)
    resource = at.resource(request.match_info["resource"])
    named = (each for each in PRINTS.get(resource.name, ()) if each.name == request.match_info["print"])
    chosen = or_not_found(next(named, None), "page")
    one = or_not_found(resource.one, "page")
    record = await at.need(one, path={"id": request.match_info["id"]})
    referred = await find_references(at, resource.fields.values(), [record])
    lines = goods_lines(record, LINES_OF[resource.name], referred)
    if chosen.has_loaded and record["status"] in SHIPPED and at.may(list_loaded_goods):
        found = await at.need(list_loaded_goods, path={"id": str(record["id"])}, is_counted=True)
        lines = with_loaded(lines, record, found["data"])
    size = request.query.get("size", "a4")
    return page_of(
        at,
        "print",
        resource.name,
        chosen=chosen,
        size=size if size in PAPER_SIZES else "a4",
        sizes=PAPER_SIZES,
        address=request.path,
        papers=await at.need(get_papers, is_counted=True),
        record=record,
        back=f"{at.address}/{resource.name}/{record['id']}",
        bars=code_barcode(record["code"]),
        square=qr_code(record["code"]),
        partner=await partner_of(at, record, referred),
        reached=record["status_history"][-1],
        facts=[resource.fields[name] for name in chosen.facts if record[name] is not None],
        referred=referred,
        groups=_by_place(lines) if chosen.is_for_picking else [(None, lines)],
        goods_table=partial(goods_table, columns_of(lines, chosen.is_for_picking, chosen.counts)),
    )


async def partner_of(at: Workplace, record: Mapping[str, Any], referred: Referred) -> Mapping[str, Any] | None:
    """Return the partner of the document. A reception has the partner of its purchase order.

    Return None if there is no partner, or if the person may not read the partner or the purchase order.
    """
    holder = record if PARTNER in record else referred.get((PURCHASE_ORDER, record.get(PURCHASE_ORDER, 0)))
    if holder is None:
        return None
    found = await find_references(at, [Field(PARTNER, "reference")], [holder])
    return found.get((PARTNER, holder[PARTNER]))


def _by_place(lines: Sequence[GoodsLine]) -> list[tuple[Mapping[str, Any] | None, list[GoodsLine]]]:
    """Return each warehouse with its lines. The warehouse is None if the person may not read warehouses. The lines
    of a warehouse are sorted by the code of the article, and then by lot.
    """
    in_order = sorted(lines, key=lambda line: (_code_of(line.warehouse), line.code, line.lot))
    return [
        (of_place[0].warehouse, of_place)
        for _, found in groupby(in_order, key=lambda line: _code_of(line.warehouse))
        if (of_place := list(found))
    ]


def _code_of(warehouse: Mapping[str, Any] | None) -> str:
    return "" if warehouse is None else str(warehouse["code"])
