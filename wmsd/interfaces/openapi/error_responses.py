"""The errors that an operation can return, with an example of each code."""

from collections.abc import Iterable
from typing import Annotated, Any, Final

from pydantic import Field

from wmsd.base.problems import STATUS_OF_CODE
from wmsd.contract.fields import Model, choice_of
from wmsd.contract.operation import Operation
from wmsd.contract.route import Route
from wmsd.interfaces.openapi import headers
from wmsd.interfaces.openapi.schemas import Schema, reference

EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "UNAUTHORIZED": {"message": "The token is missing, invalid, revoked or expired."},
    "FORBIDDEN": {"message": "This token lacks the ability articles:write."},
    "NOT_FOUND": {"message": "There is no such article."},
    "INVALID_STATUS": {
        "message": "A delivered order cannot be cancelled.",
        "details": {"current": "LIVRAT", "requested": "ANULAT", "allowed": []},
    },
    "PRECONDITION_FAILED": {"message": "The record has changed since it was read."},
    "STORAGE_FULL": {"message": "The quota of 500 MB is used up, so new records cannot be stored."},
    "REQUEST_TIMEOUT": {"message": "The request body did not arrive within 20 s; send it again."},
    "INSUFFICIENT_STOCK": {
        "message": "There is not enough stock; nothing was reserved.",
        "errors": {"lines.0.quantity": ["is more than the available stock: 3 available, 5 requested"]},
    },
    "INVALID_PARTNER": {
        "message": "The partner is not valid.",
        "errors": {"partner_id": ["is not a partner of this company"]},
    },
    "INVALID_WAREHOUSE": {
        "message": "A warehouse is not valid.",
        "errors": {"lines.0.warehouse_id": ["is not a warehouse of this company"]},
    },
    "INVALID_ARTICLE": {
        "message": "An article is not valid.",
        "errors": {"lines.0.article_code": ["is not an article of this company"]},
    },
    "VALIDATION_FAILED": {
        "message": "One field is not valid.",
        "errors": {"code": ["must have at least 1 character"]},
    },
    "EXTERNAL_REF_TAKEN": {
        "message": "A record with this external_ref exists already: its id is in details.",
        "errors": {"external_ref": ["is taken by another sales order"]},
        "details": {"id": 12},
    },
    "IDEMPOTENCY_KEY_REUSED": {
        "message": "This Idempotency-Key was used before with another body.",
        "errors": {"Idempotency-Key": ["was used before with another body; send a new key with a new request"]},
        "details": {"id": 12},
    },
    "COMPANY_REQUIRED": {
        "message": "Send X-Company-Id with the id of a company that this token may use (GET /api/companies)."
    },
    "METHOD_NOT_ALLOWED": {
        "message": "The method PUT is not possible at this address. Possible methods: GET, HEAD, OPTIONS."
    },
    "RATE_LIMIT_EXCEEDED": {"message": "Too many requests: the limit is 60 a minute. Try again in 12 s."},
    "SERVICE_UNAVAILABLE": {
        "message": "The server cannot use its disk now; nothing was changed. Tell the platform admin."
    },
    "OUTCOME_UNKNOWN": {
        "message": "The disk failed while the change was made durable: it may have been done, or not."
    },
    "SERVER_ERROR": {"message": "The server had an internal error. Look for the request id in its log."},
}

PHRASES: Final = {
    400: "The body is not a JSON object",
    401: "Token missing, invalid or expired",
    403: "Ability missing or module off",
    404: "No such record",
    408: "The body did not arrive in time",
    409: "The status does not allow the change",
    412: "The record has changed",
    413: "The body is too large",
    415: "The body is not plain JSON",
    422: "Invalid data",
    429: "Too many requests",
    500: "Internal error",
    503: "Temporarily unavailable",
    507: "The company's quota is used up",
}
MEDIA_TYPE: Final = "application/problem+json"
BEFORE: Final = "An error that occurs before wmsd knows the operation of the request"

ErrorCode = Annotated[str, choice_of("ErrorCode", STATUS_OF_CODE)]


class Problem(Model):
    """The form of every error."""

    message: Annotated[str, Field(description="The error as a sentence for people.")]
    code: ErrorCode
    errors: Annotated[
        dict[str, list[str]], Field(description="The errors by the path of the field, such as `lines.0.quantity`.")
    ] = {}
    details: Annotated[
        dict[str, Any], Field(description="More data for programs, such as the allowed status changes.")
    ] = {}


class Rfc9457Problem(Model):
    """An error for clients that accept `application/problem+json` (RFC 9457)."""

    type: Annotated[str, Field(description="The address of the code's paragraph in the guide.")]
    title: Annotated[str, Field(description="The error code in words.")]
    status: int
    detail: Annotated[str, Field(description="The error as a sentence for people.")]
    code: ErrorCode
    errors: Annotated[dict[str, list[str]], Field(description="As in `Problem`.")] = {}
    details: Annotated[dict[str, Any], Field(description="As in `Problem`.")] = {}


def codes_of(declared: Operation) -> list[str]:
    """Return every error code of an operation: those that it declares, and those that follow from its other
    attributes.
    """
    codes = list(declared.codes)
    if declared.signed_in:
        codes.append("UNAUTHORIZED")
    if declared.scope == "company":
        codes += ["FORBIDDEN", "COMPANY_REQUIRED", "SERVICE_UNAVAILABLE"]
    if declared.scope == "site":
        codes += ["FORBIDDEN", "SERVICE_UNAVAILABLE"]
    if declared.scope == "platform" and "company" in declared.takes:
        codes += ["FORBIDDEN", "COMPANY_REQUIRED"]
    if declared.scope == "platform" and (declared.signed_in or declared.writes):
        codes.append("SERVICE_UNAVAILABLE")
    is_asked_for_room = declared.writes and declared.answer != "nothing" and declared.needs is None
    if is_asked_for_room and declared.scope in ("company", "site"):
        codes.append("STORAGE_FULL")
    if declared.path_types:
        codes.append("NOT_FOUND")
    if declared.precondition is not None:
        codes.append("PRECONDITION_FAILED")
    if not declared.ignores_query:
        codes.append("VALIDATION_FAILED")
    if declared.limit != "none":
        codes.append("RATE_LIMIT_EXCEEDED")
    return [*dict.fromkeys(codes), "SERVER_ERROR"]


def failures(route: Route) -> dict[str, Schema]:
    """Return the error responses of an operation, by status."""
    declared = route.operation
    by_status: dict[int, list[str]] = {}
    for code in codes_of(declared):
        by_status.setdefault(STATUS_OF_CODE[code], []).append(code)
    if headers.takes_key(route):
        by_status[422].append("IDEMPOTENCY_KEY_REUSED")
    if declared.body is not None:
        by_status[408] = ["REQUEST_TIMEOUT"]
        for status in (400, 413, 415):
            by_status[status] = ["VALIDATION_FAILED"]
    found = {str(status): _failure(route, status, codes) for status, codes in sorted(by_status.items())}
    return {**found, "default": {"$ref": "#/components/responses/Problem"}}


def _failure(route: Route, status: int, codes: Iterable[str]) -> Schema:
    return {
        "description": PHRASES[status],
        "headers": headers.of_failure(route, status),
        "content": _content(codes),
    }


def _content(codes: Iterable[str]) -> dict[str, Schema]:
    examples = {code: {"value": {**EXAMPLES[code], "code": code}} for code in codes}
    return {
        "application/json": {"schema": reference("Problem"), "examples": examples},
        MEDIA_TYPE: {"schema": reference("Rfc9457Problem")},
    }


def before_any_operation() -> Schema:
    """Return the description of the answer to a request that wmsd cannot read, or that reaches no operation."""
    return {
        "description": f"{BEFORE}.",
        "headers": headers.of_any(),
        "content": _content(["METHOD_NOT_ALLOWED"]),
    }
