"""The addresses of pages that several interfaces link to: pages of one-time links, of lots and of serials."""

from typing import Final
from urllib.parse import quote

FIRST_ADMIN: Final = "/first-admin"
DEMO: Final = "/demo"
WELCOME: Final = "/welcome"
PARTS: Final = {"lot_number": "lot", "serial": "serial"}
"""The last part of the address of a page about a lot or a serial. The key is the name of the field that contains
the lot or the serial.
"""
NUMBER: Final = "number"


def of_part(company: str, article_id: int, field: str, number: str) -> str:
    """Return the address of the page of a lot or a serial, below the address of its company.

    The number is a query parameter, because browsers and proxies change `..` and slashes in a path.
    """
    return f"{company}/articles/{article_id}/{PARTS[field]}?{NUMBER}={quote(number, safe='')}"
