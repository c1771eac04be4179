"""The OpenAPI descriptions of successful answers."""

from typing import Final

from wmsd.contract.history_cuts import HistoryCut
from wmsd.contract.list_queries import Query
from wmsd.contract.operation import Operation
from wmsd.contract.route import Route
from wmsd.interfaces.openapi import headers
from wmsd.interfaces.openapi.schemas import Schema, objects, reference

NUMBER: Final = {"type": "integer"}
AS_OF: Final = {
    "type": "string",
    "format": "date-time",
    "description": "The time of this answer: later changes have a later `updated_at`. Only in lists with "
    "`updated_since`.",
}
PAGE_META: Final = objects(
    {
        **dict.fromkeys(("current_page", "last_page", "per_page", "total"), NUMBER),
        "truncated": {
            "type": "boolean",
            "description": "Always false, because wmsd never shortens a page. wmsd refuses a page of over "
            "50 records that is too large.",
        },
        "as_of": AS_OF,
    },
    optional=["as_of"],
)
CURSORS: Final = {
    "next_cursor": {"type": ["string", "null"], "description": "null on the last page."},
    "end_cursor": {
        "type": "string",
        "description": "The position after the last record. Send it as `cursor`, with the same filters, to "
        "continue the list, also later when there are new records.",
    },
}
CUTS: Final = {
    "epoch": {
        "type": "string",
        "description": "The current epoch of the company's history. A restore begins a new epoch.",
    },
    "cuts": {
        "type": "array",
        "items": reference(HistoryCut.__name__),
        "description": "The cuts between the records of this page, the oldest first.",
    },
}
CHOSEN: Final = {
    "type": "object",
    "required": ["id"],
    "properties": {"id": NUMBER},
    "description": "The chosen fields of the record.",
    "additionalProperties": True,
}


def successes(route: Route) -> dict[str, Schema]:
    """Return the successful responses of an operation, by status."""
    declared = route.operation
    found = headers.of_success(route)
    if declared.answer == "nothing":
        return {"204": {"description": "Done", "headers": found}}
    answer = {
        "description": declared.summary,
        "headers": found,
        "content": {"application/json": {"schema": envelope(declared)}},
    }
    shown = {"201" if declared.creates else "200": answer}
    if declared.also_shown_with is not None:
        shown[str(declared.also_shown_with)] = answer
    if headers.is_validated(declared):
        shown["304"] = {
            "description": "The answer has not changed",
            "headers": headers.of_unchanged(route),
        }
    return shown


def _asks_for_changes(declared: Operation) -> bool:
    return declared.query is not None and issubclass(declared.query, Query) and declared.query.asks_for_changes()


def envelope(declared: Operation) -> Schema:
    """Return the schema of an answer. The answer is a record, or a list of records with data about the list."""
    assert declared.returns is not None, declared.name
    record: Schema = reference(declared.returns.__name__)
    if declared.query is not None and "fields" in declared.query.model_fields:
        record = CHOSEN
    match declared.answer:
        case "page":
            return objects({"data": {"type": "array", "items": record}, "meta": reference("PageMeta")})
        case "cursor":
            as_of = {"as_of": AS_OF} if _asks_for_changes(declared) else {}
            cuts = {} if declared.history is None else CUTS
            return objects({"data": {"type": "array", "items": record}, **CURSORS, **as_of, **cuts})
        case _:
            return record
