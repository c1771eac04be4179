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
    "X-Request-Id": _header(TEXT, "The id of the request, which the server's log has too."),
    "X-RateLimit-Limit": _header(NUMBER, "The number of requests allowed per minute."),
    "X-RateLimit-Remaining": _header(NUMBER, "The number of requests that are left in this window."),
    "X-RateLimit-Reset": _header(NUMBER, "Seconds until the whole window is free."),
    "RateLimit-Policy": _header(TEXT, 'The limit in the form of the IETF draft: `"minute";q=60;w=60`.'),
    "RateLimit": _header(TEXT, 'The rest of the limit in the form of the IETF draft: `"minute";r=57;t=12`.'),
    "Retry-After": _header(NUMBER, "The number of seconds to wait."),
    "WWW-Authenticate": _header(TEXT, "How to authenticate: `Bearer`."),
    "Deprecation": _header(TEXT, "Since when this operation is deprecated (RFC 9745)."),
    "Sunset": _header(TEXT, "Until when this operation works (RFC 8594)."),
    "Allow": _header(TEXT, "The methods that this address supports."),
    "ETag": _header(TEXT, "The version of the answer, which changes with the answer. Long lists have no ETag."),
    "Link": _header(TEXT, "The addresses of the first, previous, next and last page, if these pages exist."),
    "Location": _header(TEXT, "The address of the new record."),
    idempotency.REPLAYED: _header(
        {"type": "string", "enum": ["true"]},
        "Only if the answer is the stored answer to an earlier request with the same Idempotency-Key.",
    ),
    idempotency.CUT: _header(
        {**TEXT, "format": "date-time"},
        "For 7 days after a restore of the company: wmsd no longer knows Idempotency-Keys that were "
        "used after this time. Before you repeat an older request, check if its record exists.",
    ),
}
"""The headers of answers."""
COST: Final = "X-Query-Cost"
"""The header of an answer to a GraphQL document. The OpenAPI descriptions do not contain this header."""

SENT: Final[dict[str, Schema]] = {
    "X-Company-Id": _header(
        _ID, "The id of the company. `GET /api/companies` lists the companies that the token may use."
    ),
    "X-Three-Pl-Id": _header(
        _ID,
        "The id of the company's operator. If it is sent, wmsd checks that the company belongs to this operator.",
    ),
    idempotency.HEADER: _header(
        {"type": "string", "minLength": 1, "maxLength": 255},
        "A key for this request. A repeated request with the same key and body gets the same answer and "
        "changes nothing.",
    ),
    "If-Match": _header(
        TEXT, "The ETag of the record when you read it. The answer is 412 if the record has changed since."
    ),
    "If-None-Match": _header(TEXT, "The ETag of an earlier answer. The answer is 304 if nothing has changed."),
}
"""The headers of requests."""


def takes_key(route: Route) -> bool:
    """Return True if the operation supports an Idempotency-Key."""
    declared = route.operation
    is_kept = declared.writes and declared.scope in ("company", "site")
    return (is_kept or declared.takes_key) and route.method in idempotency.METHODS


def is_validated(declared: Operation) -> bool:
    """Return True if the answers of the operation have an ETag, which clients can send back in If-None-Match."""
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
    """Return True if an answer with this status does not count against the rate limit. Such an answer has no rate
    limit headers.

    Failed authentication (401) does not count. Refused access (403) counts only if wmsd checks the limit before
    the access.
    """
    is_admitted_first = declared.signed_in or "company" in declared.takes
    is_refused_later = declared.off_because is not None or "operator_id" in declared.takes
    return is_admitted_first and (status == 401 or (status == 403 and not is_refused_later))


def _always(route: Route) -> list[str]:
    return ["X-Request-Id", *(RATE_HEADERS if route.operation.limit != "none" else ()), *route.headers]


def _references(names: list[str]) -> dict[str, Schema]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
