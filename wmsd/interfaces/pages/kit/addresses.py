"""Addresses that several interfaces write: those that one-time links lead to, and those of lots and serials."""

from typing import Final
from urllib.parse import quote

FIRST_ADMIN: Final = "/first-admin"
DEMO: Final = "/demo"
WELCOME: Final = "/welcome"
PARTS: Final = {"lot_number": "lot", "serial": "serial"}
"""The page of a part of an article's goods, by the field that names it."""
NUMBER: Final = "number"


def of_part(company: str, article_id: int, field: str, number: str) -> str:
    """The address of the page of a lot or a serial, below that of its company. The number is a parameter: in a
    path, browsers and proxies would change `..` and slashes.
    """
    return f"{company}/articles/{article_id}/{PARTS[field]}?{NUMBER}={quote(number, safe='')}"
