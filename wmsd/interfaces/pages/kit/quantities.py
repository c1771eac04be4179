"""Numbers and quantities as HTML. A quantity has the unit of its article, and in documents also its boxes."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from markupsafe import escape

from wmsd.interfaces.pages.kit.fields import name_of
from wmsd.interfaces.pages.kit.references import Referred
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.words import grouped_number

DASH: Final = "\N{EN DASH}"
NOTHING: Final = f'<span class="zero">{DASH}</span>'
ZERO: Final = '<span class="zero">0</span>'
ARTICLE: Final = "article_id"
QUANTITY_3PL: Final = "quantity_um3pl"
QUANTITIES: Final = frozenset(
    {"quantity", "received_quantity", "counted_quantity", "expected_quantity", QUANTITY_3PL}
)
"""The fields with a quantity of an article, in the lines of documents and in stock."""
SHORT: Final = 3
"""The maximum number of decimals in a number of boxes. A number with more decimals is not shown."""
WithUnit = Callable[[str, Referred, Mapping[str, Any]], str]
"""A function that returns the HTML of a quantity. Its arguments are the name of the field, the records to which
the line refers, and the line.
"""


def number_html(value: Any) -> str:
    return ZERO if value == 0 else f"<span>{grouped_number(value)}</span>"


def in_own_unit(name: str, referred: Referred, line: Mapping[str, Any]) -> str:
    """Return a quantity with the unit of its article. The unit is left out if the person may not read articles."""
    value, article = line.get(name), referred.get((ARTICLE, line.get(ARTICLE, 0)))
    if value is None:
        return NOTHING
    return f"{number_html(value)} {escape(article['unit'])}" if article and value else number_html(value)


def in_units(name: str, referred: Referred, line: Mapping[str, Any]) -> str:
    """Return a quantity with its unit. If the article is in boxes, add the number of boxes."""
    value, article = line.get(name), referred.get((ARTICLE, line.get(ARTICLE, 0)))
    if not article or not value:
        return in_own_unit(name, referred, line)
    factor, box = Decimal(article["um3pl_factor"]), article["unit_3pl"]
    of_box = {"box": box or name_of("unit_3pl"), "factor": _plain_number(factor), "unit": article["unit"]}
    if name == QUANTITY_3PL:
        boxes = _("%(box)s of %(factor)s %(unit)s") % of_box if factor != 1 else box or article["unit"]
        return f"{number_html(value)} {escape(boxes)}"
    shown = in_own_unit(name, referred, line)
    if box is None or factor == 1:
        return shown
    number = value / factor
    is_short = number == round(number, SHORT)
    count = f"{_plain_number(number)} " if is_short else ""
    return f'{shown}<br><span class="soft">{escape(count + _("%(box)s of %(factor)s") % of_box)}</span>'


def _plain_number(value: Decimal) -> str:
    return grouped_number(value.normalize() + 0)
