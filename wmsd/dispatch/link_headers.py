"""The Link header of lists (RFC 8288): the addresses of the neighbouring pages."""

import re
from typing import Final
from urllib.parse import quote, quote_plus

from wmsd.contract.list_queries import PageQuery
from wmsd.dispatch.call import Call

LONGEST = 500
"""wmsd sends the header only if the query has at most this many characters. The page number is not counted."""
PLAIN: Final = re.compile(r"[\w.~-]*", re.ASCII)
"""A pattern for text that needs no quoting in an address. wmsd calls the slow quoting function only for other
text.
"""
PLAIN_PATH: Final = re.compile(r"[\w.~/-]*", re.ASCII)


def last_page_of(total: int, query: PageQuery) -> int:
    return max(1, -(-total // query.per_page))


def page_links(call: Call, total: int, query: PageQuery) -> str | None:
    """Return the value of the Link header: links to the first, previous, next and last page. Omit pages that do
    not exist.

    Return None if the query is longer than `LONGEST`, or if the caller does not receive headers.
    """
    last = last_page_of(total, query)
    pages = {"first": 1, "prev": min(query.page - 1, last), "next": query.page + 1, "last": last}
    return _links(call, "page", {name: page for name, page in pages.items() if 1 <= page <= last})


def cursor_links(call: Call, next_cursor: str | None) -> str | None:
    return None if next_cursor is None else _links(call, "cursor", {"next": next_cursor})


def _links(call: Call, parameter: str, values: dict[str, int] | dict[str, str]) -> str | None:
    if not call.has_headers:
        return None
    others = [f"{_quoted(name)}={_quoted(value)}" for name, value in call.query.items() if name != parameter]
    query = "&".join([*others, f"{parameter}="])
    if len(query) > LONGEST:
        return None
    path = call.target if PLAIN_PATH.fullmatch(call.target) else quote(call.target)
    return ", ".join([f'<{path}?{query}{value}>; rel="{name}"' for name, value in values.items()])


def _quoted(text: str) -> str:
    return text if PLAIN.fullmatch(text) else quote_plus(text)
