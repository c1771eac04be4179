"""Turns the result of an action into the answer."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from wmsd.app import preconditions
from wmsd.app.call import Call, Reply
from wmsd.base.context import Company
from wmsd.base.cursor import CursorSigner
from wmsd.base.listing import PageQuery
from wmsd.base.results import CursorPage, Page, Record, Records, Shown, Text
from wmsd.base.strict_json import dumps


def reply_of(
    call: Call, company: Company | None, result: Any, inputs: Mapping[str, Any], signer: CursorSigner
) -> Reply:
    """The status, headers and bytes for the result of an action."""
    match result:
        case Reply():
            return result
        case Record(id=record_id, json=text, is_new=is_new, name=name):
            headers = {"ETag": preconditions.etag(text)}
            if not (call.operation.creates and is_new):
                return Reply(200, text.encode(), headers)
            place = str(record_id) if name is None else quote(name, safe="")
            return Reply(201, text.encode(), {**headers, "Location": f"{call.target}/{place}"})
        case Page():
            return Reply(200, _page(result, inputs["query"]).encode(), {})
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
            body = f'{{"data":[{records}],"next_cursor":{next_cursor},"end_cursor":{end}{every}}}'
            return Reply(200, body.encode(), {})
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


def _page(page: Page, query: PageQuery) -> str:
    last_page = max(1, -(-page.total // query.per_page))
    return (
        f'{{"data":[{page.records}],"meta":{{"current_page":{query.page},"last_page":{last_page},'
        f'"per_page":{query.per_page},"total":{page.total},"truncated":{dumps(page.is_cut)}}}}}'
    )
