"""The headers of requests and answers, each described in one place."""

from typing import Any, Final

from wmsd.contract.operation import Operation
from wmsd.contract.route import Route
from wmsd.dispatch import idempotency
from wmsd.dispatch.limits.rate_limits import RATE_HEADERS
from wmsd.interfaces.openapi.schemas import Schema

TEXT: Final = {"type": "string"}
NUMBER: Final = {"type": "integer"}
_ID: Final = {"type": "integer", "minimum": 1}


def _header(schema: Schema, description: str, **more: Any) -> Schema:
    return {"description": description, "schema": schema, **more}


ANSWERED: Final[dict[str, Schema]] = {
    "X-Request-Id": _header(TEXT, "The id of the request, also in the server's log."),
    "X-RateLimit-Limit": _header(NUMBER, "Requests a minute."),
    "X-RateLimit-Remaining": _header(NUMBER, "Requests that are left of them."),
    "X-RateLimit-Reset": _header(NUMBER, "Seconds until the whole window is free."),
    "RateLimit-Policy": _header(TEXT, 'The limit as the IETF drafts it: `"minute";q=60;w=60`.'),
    "RateLimit": _header(TEXT, 'What is left of it: `"minute";r=57;t=12`.'),
    "Retry-After": _header(NUMBER, "Seconds to wait."),
    "WWW-Authenticate": _header(TEXT, "How to authenticate: `Bearer`."),
    "Deprecation": _header(TEXT, "Since when this operation is to go away (RFC 9745)."),
    "Sunset": _header(TEXT, "Until when it works (RFC 8594)."),
    "Allow": _header(TEXT, "The methods that are possible here."),
    "ETag": _header(TEXT, "Changes whenever the answer does. A long list has none."),
    "Link": _header(TEXT, "The addresses of the first, previous, next and last page, those that there are."),
    "Location": _header(TEXT, "The address of the new record."),
    idempotency.REPLAYED: _header(
        {"type": "string", "enum": ["true"]},
        "Only when the answer is that of an earlier request with the same Idempotency-Key.",
    ),
    idempotency.CUT: _header(
        {**TEXT, "format": "date-time"},
        "For 7 days after the company was restored: an Idempotency-Key that was used after this moment is not "
        "known any more. Before you repeat a request from before the restore, look whether its record is there.",
    ),
}
"""The headers of answers."""
COST: Final = "X-Query-Cost"
"""The header of an answer to a GraphQL document. The OpenAPI descriptions do not contain this header."""

SENT: Final[dict[str, Schema]] = {
    "X-Company-Id": _header(
        _ID, "The id of the company. `GET /api/companies` lists those that the token may use."
    ),
    "X-Three-Pl-Id": _header(_ID, "The operator of the company, if the caller wants that to be checked."),
    idempotency.HEADER: _header(
        {"type": "string", "minLength": 1, "maxLength": 255},
        "A repetition with the same key and body gets the same answer and changes nothing.",
    ),
    "If-Match": _header(TEXT, "The ETag of the record that was read: 412 when it has changed since."),
    "If-None-Match": _header(TEXT, "The ETag of an answer that the caller has: 304 when it is still the same."),
}
"""The headers of requests."""


def takes_key(route: Route) -> bool:
    """Return True if the operation supports an Idempotency-Key."""
    declared = route.operation
    is_kept = declared.writes and declared.scope in ("company", "site")
    return (is_kept or declared.takes_key) and route.method in idempotency.METHODS


def is_validated(declared: Operation) -> bool:
    """Return True if the answers have an ETag that If-None-Match can name."""
    return not declared.writes and (declared.prepared or declared.answer in ("record", "page", "cursor"))


def sent(route: Route) -> list[Schema]:
    """Return the parameters in the headers of a request."""
    declared = route.operation
    found = []
    if declared.scope == "company":
        found += [_parameter("X-Company-Id", required=True), _parameter("X-Three-Pl-Id")]
    elif declared.scope == "platform" and "company" in declared.takes:
        found += [_parameter("X-Company-Id"), _parameter("X-Three-Pl-Id")]
    elif "operator_id" in declared.takes:
        found.append(_parameter("X-Three-Pl-Id"))
    if takes_key(route):
        found.append(_parameter(idempotency.HEADER))
    if declared.precondition is not None:
        found.append(_parameter("If-Match"))
    if is_validated(declared):
        found.append(_parameter("If-None-Match"))
    return found


def _parameter(name: str, required: bool = False) -> Schema:
    return {"name": name, "in": "header", "required": required, **SENT[name]}


def of_success(route: Route) -> dict[str, Schema]:
    declared = route.operation
    names = [*_always(route)]
    if declared.answer == "record" or is_validated(declared):
        names.append("ETag")
    names += _links(declared)
    if declared.creates:
        names.append("Location")
    if takes_key(route):
        names.append(idempotency.REPLAYED)
        if declared.creates:
            names.append(idempotency.CUT)
    return _references(names)


def of_unchanged(route: Route) -> dict[str, Schema]:
    return _references([*_always(route), "ETag", *_links(route.operation)])


def of_failure(route: Route, status: int) -> dict[str, Schema]:
    names = list(dict.fromkeys([*_always(route), *(RATE_HEADERS if status == 429 else ())]))
    if _is_before_the_limit(route.operation, status):
        names = [name for name in names if name not in RATE_HEADERS]
    if status == 401:
        names.append("WWW-Authenticate")
    if status == 412:
        names.append("ETag")
    if status in (429, 503):
        names.append("Retry-After")
    return _references(names)


def of_any() -> dict[str, Schema]:
    return _references(["X-Request-Id", "Retry-After", "Allow"])


def _links(declared: Operation) -> list[str]:
    return ["Link"] if declared.answer in ("page", "cursor") else []


def _is_before_the_limit(declared: Operation, status: int) -> bool:
    """Return True if an answer with this status uses up no rate limit, and therefore has no rate limit headers.

    Failed authentication and refused access use up no limit, unless the refusal happens after the limit is
    checked.
    """
    is_admitted_first = declared.signed_in or "company" in declared.takes
    is_refused_later = declared.off_because is not None or "operator_id" in declared.takes
    return is_admitted_first and (status == 401 or (status == 403 and not is_refused_later))


def _always(route: Route) -> list[str]:
    return ["X-Request-Id", *(RATE_HEADERS if route.operation.limit != "none" else ()), *route.headers]


def _references(names: list[str]) -> dict[str, Schema]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
