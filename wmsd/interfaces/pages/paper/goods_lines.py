"""The lines of a document on paper: the article, the quantity with its unit, the lot and the serials."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from wmsd.interfaces.pages.kit.references import Referred
from wmsd.interfaces.pages.kit.text import words
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.words import grouped_number
from wmsd.interfaces.pages.kit.values import escape
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.sales_orders.kind import SALES_ORDERS

ARTICLE: Final = "article_id"
WAREHOUSE: Final = "warehouse_id"
QUANTITIES: Final = (("quantity_um3pl", "unit_3pl"), ("quantity", "unit"))
"""Pairs of fields: a quantity of the line, and the field of the article that has the unit of this quantity.

The quantity in 3PL units comes first.
"""
LINES_OF: Final = {kind.name: kind.table.lines for kind in DOCUMENTS}
"""The name of the field with the lines, for each kind of document."""
SERIALS: Final = ("serials", "serial_data")


class GoodsLine(NamedTuple):
    article: Mapping[str, Any]
    """All fields of the article, if the person may read articles. Otherwise only its code."""
    warehouse: Mapping[str, Any] | None
    amounts: Sequence[tuple[Decimal | int, str]]
    """The quantities of the line, each with its unit: first in 3PL units, then in the article's own unit.

    A line may have only one of the two.
    """
    lot: str
    serials: Sequence[str]
    disposition: str
    own_unit: str
    """The article's own unit, not its 3PL unit."""
    expected: Decimal | int | None

    @property
    def code(self) -> str:
        return str(self.article["code"])

    @property
    def name(self) -> str:
        return str(self.article.get("name", ""))

    @property
    def unit(self) -> str:
        return self.amounts[0][1] if self.amounts else self.own_unit


def goods_lines(record: Mapping[str, Any], lines: str, referred: Referred) -> list[GoodsLine]:
    """Return the lines of a document for paper. `lines` is the name of the field with the lines."""
    return [_goods_line(each, record, referred) for each in record[lines]]


def with_loaded(
    lines: Sequence[GoodsLine], record: Mapping[str, Any], loaded: Sequence[Mapping[str, Any]]
) -> list[GoodsLine]:
    """Return the lines of a sales order for paper, with the lots and serials that were loaded. A line without
    loaded lots or serials does not change.

    `record` is the order. `loaded` has the loaded goods by line, lot and serial.
    """
    by_line: dict[int, dict[str, list[Mapping[str, Any]]]] = {}
    for each in loaded:
        if each["lot_number"] or each["serial"]:
            by_line.setdefault(each["line_id"], {}).setdefault(each["lot_number"] or "", []).append(each)
    pairs = zip(lines, record[LINES_OF[SALES_ORDERS.name]], strict=True)
    return [each for line, sent in pairs for each in _by_lot(line, by_line.get(sent["id"], {}))]


def _by_lot(line: GoodsLine, lots: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[GoodsLine]:
    """Split `line` into one line for each loaded lot. `lots` has the loaded goods by lot.

    If `lots` is empty, return only `line`.
    """
    if not lots:
        return [line]
    return [
        line._replace(
            lot=lot,
            amounts=((sum(each["quantity"] for each in parts), line.unit),),
            serials=[each["serial"] for each in parts if each["serial"]],
        )
        for lot, parts in lots.items()
    ]


def _goods_line(line: Mapping[str, Any], record: Mapping[str, Any], referred: Referred) -> GoodsLine:
    article = referred.get((ARTICLE, line[ARTICLE]), {"code": line["article_code"]})
    warehouse_id = line.get(WAREHOUSE) or record[WAREHOUSE]
    return GoodsLine(
        article,
        referred.get((WAREHOUSE, warehouse_id)),
        tuple(dict.fromkeys(_amounts(line, article))),
        line.get("lot_number") or "",
        next((line[name] for name in SERIALS if line.get(name)), ())
        or ([line["serial"]] if line.get("serial") else ()),
        line.get("disposition") or "",
        str(article.get("unit", "")),
        line.get("expected_quantity"),
    )


def _amounts(line: Mapping[str, Any], article: Mapping[str, Any]) -> Iterator[tuple[Decimal | int, str]]:
    for quantity, unit in QUANTITIES:
        if line.get(quantity) is not None:
            yield line[quantity], article.get(unit) or article.get("unit", "")


class Column(NamedTuple):
    """A column of the printed table. `begin` is the HTML before a value, and `show` returns the value as HTML."""

    head: str
    begin: str
    show: Callable[[GoodsLine], str]


def columns_of(lines: Sequence[GoodsLine], is_for_picking: bool, counts: str) -> list[Column]:
    """Return the columns of the printed table. Lots, serials and dispositions have a column only if a line has
    one.

    `is_for_picking` and `counts` are those of the print (see `Print`).
    """
    has_expected = counts == "expected" and any(line.expected is not None for line in lines)
    columns = (
        (is_for_picking, _text("✓", lambda _line: '<span class="box"></span>')),
        (True, _text(_("Article"), lambda line: escape(line.code))),
        (True, _text(_("Name"), lambda line: escape(line.name))),
        (not counts, _number(_("Quantity"), _amounts_html)),
        (any(each.lot for each in lines), _text(_("Lot"), lambda line: escape(line.lot))),
        (any(each.serials for each in lines), _text(_("Serials"), lambda line: escape(", ".join(line.serials)))),
        (any(each.disposition for each in lines), _text(_("Disposition"), _disposition)),
        (has_expected, _number(_("Expected"), _expected)),
        (bool(counts), _number(_("Counted"), _unit, " written")),
    )
    return [column for is_shown, column in columns if is_shown]


def goods_table(columns: Sequence[Column], lines: Iterable[GoodsLine]) -> Markup:
    """Return the printed table as HTML.

    A function creates the rows, because a template takes several times as long, and a document may have 1 000
    lines.
    """
    head = "".join(column.head for column in columns)
    rows = "\n".join(
        f"<tr>{''.join([f'{begin}{show(line)}</td>' for _head, begin, show in columns])}</tr>" for line in lines
    )
    return Markup(  # noqa: S704 -- its parts are escaped
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>"
    )


def _text(heading: str, show: Callable[[GoodsLine], str]) -> Column:
    return Column(f"<th>{escape(heading)}</th>", "<td>", show)


def _number(heading: str, show: Callable[[GoodsLine], str], more: str = "") -> Column:
    return Column(f'<th class="num">{escape(heading)}</th>', f'<td class="num{more}">', show)


def _amounts_html(line: GoodsLine) -> str:
    return "= ".join(f"{grouped_number(value)} <span>{escape(unit)}</span> " for value, unit in line.amounts)


def _disposition(line: GoodsLine) -> str:
    return escape(words.status(line.disposition))


def _expected(line: GoodsLine) -> str:
    return f"{'' if line.expected is None else grouped_number(line.expected)}{_unit(line)}"


def _unit(line: GoodsLine) -> str:
    return f" <span>{escape(line.unit)}</span>"
