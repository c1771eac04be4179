"""The chart of a quantity over time: the SVG paths for the template, and the text."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.base.time_zones import MINUTE
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.moments import day, moment_in_milliseconds
from wmsd.interfaces.pages.kit.text.words import grouped_number
from wmsd.interfaces.pages.kit.text.zone import DAY, local_text, which

WIDTH: Final = 800
HEIGHT: Final = 144
MARGIN: Final = 8
"""The space above the highest quantity and below zero, in units of the SVG."""


@dataclass(frozen=True, slots=True)
class Chart:
    steps: str
    """The SVG path of the line. The line is horizontal until the quantity changes."""
    area: str
    """The path of the area under the line."""
    minimum: str | None
    """The y coordinate of the line for the minimum stock; None if the article has no minimum stock."""
    zero: str
    begins: str
    ends: str
    highest: str
    lowest: str
    words: str


def chart_of(levels: Sequence[Mapping[str, Any]], at: str, min_stock: Decimal | int | None) -> Chart:
    """Return the chart of `levels` until the time `at`.

    Each level has the time at which it begins, and the quantity from then on.
    """
    quantities = [level["quantity"] for level in levels]
    top = max(*quantities, min_stock or 0, Decimal("0.000001"))
    begins, ends = moment_in_milliseconds(levels[0]["at"]), moment_in_milliseconds(at)
    length = max(ends - begins, 1)

    def height(quantity: Decimal | int) -> str:
        return f"{HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * float(quantity) / float(top):.1f}"

    path, x = f"M0 {height(quantities[0])}", 0.0
    for level in levels[1:]:
        x = max(
            x, WIDTH * min(moment_in_milliseconds(level["at"]) - begins, length) / length
        )  # the clock may have been set back
        path += f"H{x:.1f}V{height(level['quantity'])}"
    path += f"H{WIDTH}"
    first, last = local_text(levels[0]["at"]), local_text(at)
    from_day, to_day = day(first[:DAY], last[:4]), day(last[:DAY], last[:4])
    if from_day == to_day:
        from_day, to_day = first[11:MINUTE], f"{last[11:MINUTE]}{which(at)}"
    return Chart(
        steps=path,
        area=f"{path}V{height(0)}H0Z",
        minimum=None if min_stock is None else height(min_stock),
        zero=height(0),
        begins=from_day,
        ends=to_day,
        highest=grouped_number(max(quantities)),
        lowest=grouped_number(min(quantities)),
        words=_(
            "Quantity from %(begins)s to %(ends)s: first %(first)s, highest %(most)s, lowest %(least)s, "
            "last %(last)s."
        )
        % {
            "begins": from_day,
            "ends": to_day,
            "first": grouped_number(quantities[0]),
            "most": grouped_number(max(quantities)),
            "least": grouped_number(min(quantities)),
            "last": grouped_number(quantities[-1]),
        },
    )
