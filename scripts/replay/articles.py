"""How an article is bought and tracked.

The source has no data about this, so the number in the article's code and the sold quantity decide.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

BOXES: Final = (24, 12, 10, 6, 4)
"""Pieces in a box, the largest first."""
MOST_SERIALS: Final = 24
TOLERANCE: Final = 10
"""How many percent more than ordered may arrive."""
NUMBER: Final = re.compile(r"[0-9]+")
COLUMNS: Final = (
    *("code", "min_stock", "unit_3pl", "um3pl_factor"),
    *("track_lot", "track_serial", "over_receipt_pct"),
)


@dataclass(frozen=True, slots=True)
class Article:
    """An article. `box` is the number of pieces in a box, or 1 if the article arrives by the piece."""

    box: int
    in_lots: bool
    has_serials: bool
    is_over_delivered: bool


def articles(sold: Mapping[str, int]) -> dict[str, Article]:
    """Return the sold articles by code."""
    return {code: _article(code, pieces) for code, pieces in sold.items()}


def _article(code: str, sold: int) -> Article:
    found = NUMBER.search(code)
    assert found is not None, code  # every stock code of goods has a number
    number = int(found[0])
    boxes = [box for box in BOXES if sold % box == 0] if number % 3 == 0 else []
    return Article(
        box=next(iter(boxes), 1),
        in_lots=number % 7 == 3,
        has_serials=number % 7 == 5 and sold <= MOST_SERIALS,
        is_over_delivered=number % 5 == 4,
    )


def columns(code: str, article: Article) -> tuple[object, ...]:
    """Return the article's row of an import file. With min_stock 0, stock is low when no piece is available."""
    return (
        code,
        0,
        "box" if article.box > 1 else "",
        article.box,
        str(article.in_lots).lower(),
        str(article.has_serials).lower(),
        TOLERANCE if article.is_over_delivered else "",
    )
