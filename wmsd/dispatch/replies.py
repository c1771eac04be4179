"""Turns the result of an action into the answer."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from wmsd.base.cursor import FIRST_EPOCH, INSTALLATION, CursorSigner
from wmsd.base.strict_json import dumps
from wmsd.contract.context import Company
from wmsd.contract.list_queries import PageQuery, Query
from wmsd.contract.results import CursorPage, Page, Record, Records, Shown, Text
from wmsd.dispatch import preconditions
from wmsd.dispatch.call import Call, Reply
from wmsd.dispatch.link_headers import cursor_links, last_page_of, page_links

SHORT: Final = 64 * 1024
"""The maximum size in bytes of a list that has an ETag."""
REVALIDATED: Final = {"Cache-Control": "private, no-cache"}
"""A client may store the answer, but must ask the server before each use whether the answer is still current."""


def reply_of(
    call: Call,
    company: Company | None,
    result: Any,
    inputs: Mapping[str, Any],
    signer: CursorSigner,
    as_of: Callable[[], str] = str,
    epoch: str = FIRST_EPOCH,
) -> Reply:
    """Return the answer for the result of an action. `as_of` returns the time of the data in a list. `epoch` is
    the company's current epoch, which cursors contain.
    """
    match result:
        case Reply():
            return result
        case Record(id=record_id, json=text, is_new=is_new, name=name):
            headers = {"ETag": preconditions.etag(text), **REVALIDATED}
            if not (call.operation.creates and is_new):
                return Reply(200, text.encode(), headers)
            place = str(record_id) if name is None else quote(name, safe="")
            return Reply(201, text.encode(), {**headers, "Location": f"{call.target}/{place}"})
        case Page():
            query = inputs["query"]
            links = page_links(call, result.total, query)
            return _of_list(call, _page(result, query), _as_of(query, as_of), "}}", links)
        case CursorPage(records, position, has_more, positions, beside):
            query, company_id = inputs["query"], INSTALLATION if company is None else company.id
            sign = partial(
                signer.sign,
                company_id=company_id,
                list_name=call.operation.name,
                filters=query.filters(),
                epoch=epoch,
                began=call.cursor_began,
            )
            end = sign(position)
            next_cursor = end if has_more else None
            every = ""
            if call.wants_cursors:
                every = f',"cursors":{dumps([sign(int(place)) for place in positions.split(",") if place])}'
            cursors = (
                f'{{"data":[{records}],"next_cursor":{dumps(next_cursor)},"end_cursor":"{end}"{every}{beside}'
            )
            return _of_list(call, cursors, _as_of(query, as_of), "}", cursor_links(call, next_cursor))
        case Records(records=records):
            return Reply(200, f'{{"data":[{records}]}}'.encode(), {})
        case Text(json=text):
            return Reply(200, text.encode(), {})
        case Shown(status=status, body=shown):
            return Reply(status, dumps(shown).encode(), {})
        case None:
            return Reply(204, b"", {})
        case _:
            return Reply(200, dumps(result).encode(), {})


def _of_list(call: Call, before: str, as_of: str, after: str, links: str | None) -> Reply:
    """Return the answer for a list. Its text is `before`, then the time `as_of`, then `after`. `links` is the Link
    header.

    Only a short list has an ETag, because hashing a long list costs more than the ETag saves. The ETag is weak,
    because it does not depend on the time in the text. It stays the same until a record changes.
    """
    body = f"{before}{as_of}{after}".encode()
    if not call.has_headers:
        return Reply(200, body, {})
    headers = {} if links is None else {"Link": links}
    if len(body) <= SHORT:
        headers |= {"ETag": preconditions.weak_etag(before), **REVALIDATED}
    return Reply(200, body, headers)


def _as_of(query: Query, as_of: Callable[[], str]) -> str:
    return f',"as_of":"{as_of()}"' if query.asks_for_changes() else ""


def _page(page: Page, query: PageQuery) -> str:
    last_page = last_page_of(page.total, query)
    return (
        f'{{"data":[{page.records}],"meta":{{"current_page":{query.page},"last_page":{last_page},'
        f'"per_page":{query.per_page},"total":{page.total},"truncated":false'
    )
