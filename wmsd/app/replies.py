"""Turns the result of an action into the answer."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from wmsd.app import preconditions
from wmsd.app.call import Call, Reply
from wmsd.app.links import cursor_links, last_page_of, page_links
from wmsd.base.context import Company
from wmsd.base.cursor import CursorSigner
from wmsd.base.listing import PageQuery
from wmsd.base.results import CursorPage, Page, Record, Records, Shown, Text
from wmsd.base.strict_json import dumps

SHORT: Final = 64 * 1024
"""The longest list, in bytes, that has an ETag."""
REVALIDATED: Final = {"Cache-Control": "private, no-cache"}
"""A client may keep the answer for itself, and asks each time whether it still holds."""


def reply_of(
    call: Call, company: Company | None, result: Any, inputs: Mapping[str, Any], signer: CursorSigner
) -> Reply:
    """The status, headers and bytes for the result of an action."""
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
            page = _page(result, inputs["query"]).encode()
            return Reply(200, page, _of_list(call, page, page_links(call, result.total, inputs["query"])))
        case CursorPage(records=records, end_position=position, has_more=has_more, positions=positions):
            assert company is not None
            sign = partial(
                signer.sign,
                company_id=company.id,
                list_name=call.operation.name,
                filters=inputs["query"].filters(),
            )
            end = dumps(sign(position))
            next_cursor = end if has_more else "null"
            every = ""
            if call.wants_cursors:
                every = f',"cursors":{dumps([sign(int(place)) for place in positions.split(",") if place])}'
            body = f'{{"data":[{records}],"next_cursor":{next_cursor},"end_cursor":{end}{every}}}'.encode()
            return Reply(200, body, _of_list(call, body, cursor_links(call, sign(position) if has_more else None)))
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


def _of_list(call: Call, body: bytes, links: str | None) -> dict[str, str]:
    """The headers of a list. A short one has an ETag: reading the bytes of a long one costs more than it saves."""
    if not call.has_headers:
        return {}
    headers = {} if links is None else {"Link": links}
    return {**headers, "ETag": preconditions.etag_of(body), **REVALIDATED} if len(body) <= SHORT else headers


def _page(page: Page, query: PageQuery) -> str:
    last_page = last_page_of(page.total, query)
    return (
        f'{{"data":[{page.records}],"meta":{{"current_page":{query.page},"last_page":{last_page},'
        f'"per_page":{query.per_page},"total":{page.total},"truncated":{dumps(page.is_cut)}}}}}'
    )
