"""The Link header of lists (RFC 8288): where the pages beside this one are."""

from urllib.parse import quote, urlencode

from wmsd.app.call import Call
from wmsd.base.listing import PageQuery

LONGEST = 500
"""The longest query, in characters, that is written out."""


def last_page_of(total: int, query: PageQuery) -> int:
    return max(1, -(-total // query.per_page))


def page_links(call: Call, total: int, query: PageQuery) -> str | None:
    """The first, the previous, the next and the last page, those that there are."""
    last = last_page_of(total, query)
    pages = {"first": 1, "prev": min(query.page - 1, last), "next": query.page + 1, "last": last}
    return _links(call, "page", {name: page for name, page in pages.items() if 1 <= page <= last})


def cursor_links(call: Call, next_cursor: str | None) -> str | None:
    return None if next_cursor is None else _links(call, "cursor", {"next": next_cursor})


def _links(call: Call, parameter: str, values: dict[str, int] | dict[str, str]) -> str | None:
    if not call.has_headers:
        return None
    others = urlencode({name: value for name, value in call.query.items() if name != parameter})
    if len(others) > LONGEST:
        return None
    address = f"{quote(call.target)}?{others}{'&' if others else ''}{parameter}="
    return ", ".join(f'<{address}{value}>; rel="{name}"' for name, value in values.items())
