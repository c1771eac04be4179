"""A stored request as a line of text. First come the fields that lists show, then a tab, the remaining fields, and
a tab.

A line that does not end with a tab was cut off.
"""

import json
import re
from collections.abc import Container, Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.strict_json import dumps
from wmsd.contract.access import needed_ability
from wmsd.contract.context import Caller, Company
from wmsd.contract.operation import Operation
from wmsd.dispatch import masking
from wmsd.dispatch.call import MOST_KEPT, Part
from wmsd.request_history import refusal_reasons
from wmsd.request_history.refusal_reasons import Lack, Refusal

ASKED_FOR: Final = (
    "Accept",
    "Content-Encoding",
    "Content-Length",
    "Content-Type",
    "Host",
    "User-Agent",
    "Transfer-Encoding",
)
KNOWN: Final = ("X-Company-Id", "X-Three-Pl-Id", "Idempotency-Key", "If-Match", "If-None-Match")
"""The headers that are also separate fields of a `Call`."""
REQUEST_HEADERS: Final = (*ASKED_FOR, *KNOWN)
"""Headers without secrets. No other header is ever stored."""
ANSWER_HEADERS: Final = ("ETag", "Idempotent-Replayed", "Location", "Retry-After", "X-RateLimit-Limit")
LONGEST_HEADER: Final = 300
LONGEST_PATH: Final = 2000
MOST_OF_GOOD_ANSWER: Final = 2 * 1024
GRAPHQL: Final = "run_graphql"
NOT_RUN: Final = '{"errors":'
CODE: Final = re.compile(r'"code":"(\w+)"')
"""Finds the error code in a refusal that is too long to be stored completely."""


class Taken(NamedTuple):
    """An answered request that is not stored yet. Its texts are not masked or formatted yet."""

    at: datetime
    seconds: float
    method: str
    path: str
    headers: Sequence[str | None]
    """The values of REQUEST_HEADERS."""
    request_id: str
    address: str
    operation: Operation
    caller: Caller
    company: Company
    sent: bytes
    """The first bytes of the request's body."""
    body_bytes: int
    parts: Sequence[Part]
    status: int
    answer: bytes
    """The first bytes of the answer."""
    answer_bytes: int
    answer_headers: Sequence[str | None]
    """The values of ANSWER_HEADERS."""

    @property
    def is_graphql(self) -> bool:
        return self.operation.name == GRAPHQL


class Entry(NamedTuple):
    """A stored request. `shown` has the fields that lists show, and `rest` the remaining ones, as JSON text."""

    shown: dict[str, Any]
    rest: str

    @property
    def sequence(self) -> int:
        return int(self.shown["sequence"])


def line_of(taken: Taken, sequence: int, abilities: Container[str], left_out: int) -> bytes:
    """Return the line that stores a request.

    `sequence` is the position of the request among the company's requests. `abilities` are the abilities that
    tokens may have in this installation. `left_out` is the number of refused requests that were not stored before
    this request.
    """
    actor = taken.caller.actor
    answer, parts = taken.answer.decode("utf-8", "ignore"), taken.parts
    if taken.is_graphql:
        answer, parts = (
            masking.graphql_answer(answer),
            [part._replace(message=masking.message(part.message)) for part in parts],
        )
    else:
        answer = masking.answer(answer)
    refusal = refusal_of(taken, answer, parts, abilities)
    shown = {
        "sequence": sequence,
        "id": taken.request_id,
        "at": timestamps.to_text(taken.at),
        "method": taken.method,
        "path": masking.path(taken.path[:LONGEST_PATH], taken.is_graphql),
        "status": taken.status,
        "operation": taken.operation.name,
        "code": None if refusal is None else refusal.code,
        "why": None if refusal is None else refusal_reasons.why(refusal),
        "who": actor.name,
        "user_id": actor.user_id,
        "token_id": actor.token_id,
        "milliseconds": round(taken.seconds * 1000, 1),
    }
    rest = {
        "address": taken.address,
        "headers": _headers(REQUEST_HEADERS, taken.headers),
        "body": masking.body(taken.sent.decode("utf-8", "ignore"), taken.is_graphql) or None,
        "body_bytes": taken.body_bytes,
        "answer": answer or None,
        "answer_bytes": taken.answer_bytes,
        "answer_headers": _headers(ANSWER_HEADERS, taken.answer_headers),
        "parts": [part._asdict() for part in parts],
        "left_out": left_out,
        "refusal": None if refusal is None else refusal.kept(),
    }
    return masking.text(f"{dumps(shown)}\t{dumps(rest)}\t\n").encode("utf-8", "replace")


def read(line: bytes) -> Entry | None:
    """Parse a line. Return None if a crash or a full disk has cut the line off."""
    parts = line.rstrip(b"\n").split(b"\t")
    if len(parts) != 3 or parts[2]:
        return None
    try:
        return Entry(json.loads(parts[0]), parts[1].decode())
    except ValueError:
        return None


def _headers(names: Iterable[str], values: Iterable[str | None]) -> dict[str, str]:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def answer_to_keep(status: int, answer: bytes) -> bytes:
    """Return the part of an answer that is stored. The part is longer for a refusal."""
    return answer[: MOST_KEPT if status >= 400 else MOST_OF_GOOD_ANSWER]


def refusal_of(taken: Taken, answer: str, parts: Sequence[Part], abilities: Container[str]) -> Refusal | None:
    """Return why the request, or a part of it, was refused. Return None if nothing was refused.

    `answer` is the masked text of the answer. `parts` are the outcomes inside a batch (its requests) or inside a
    GraphQL document (its fields). `abilities` are the abilities that tokens may have in this installation.
    """
    if taken.status < 400:
        return _of_parts(taken, answer, parts)
    problem = _problem(answer)
    headers = _headers(ANSWER_HEADERS, taken.answer_headers)
    return Refusal(
        status=taken.status,
        code=problem["code"],
        message=problem["message"],
        errors=problem.get("errors", {}),
        details=problem.get("details") or {},
        retry_after=headers.get("Retry-After"),
        limit=headers.get("X-RateLimit-Limit"),
        noun=taken.operation.tag,
        summary=taken.operation.summary,
        lack=_lack(taken, abilities) if problem["code"] == "FORBIDDEN" else None,
    )


def _of_parts(taken: Taken, answer: str, parts: Sequence[Part]) -> Refusal | None:
    refused = [part for part in parts if part.status >= 400]
    if not refused and answer.startswith(NOT_RUN):  # a document that was not run, with status 200
        problem = _problem(answer)
        refused = [Part("The document", 400, problem["code"], problem["message"])]
    if not refused:
        return None
    first, more = refused[0], len(refused) - 1
    others = f" {more} more of its parts {'was' if more == 1 else 'were'} refused too." if more else ""
    message = f"{first.name}: {first.message}{others}"
    return Refusal(first.status, first.code, message, noun=taken.operation.tag, is_part=True)


def _problem(answer: str) -> dict[str, Any]:
    """Return the fields of the error in an answer, always with `code` and `message`. The answer may have the
    format of the API, of GraphQL, or of problem details.
    """
    try:
        body = json.loads(answer)
    except ValueError:
        found = CODE.search(answer)
        return {"code": found[1] if found else "", "message": "The answer is too long to be stored completely."}
    if isinstance(body.get("errors"), list):
        first = body["errors"][0]
        body = {"message": first["message"], **first.get("extensions", {})}
    return {**body, "code": body.get("code", ""), "message": body.get("message") or body.get("detail", "")}


def _lack(taken: Taken, abilities: Container[str]) -> Lack | None:
    """Return the ability that the caller lacks. If the caller lacks no ability, return the module that is off for
    the company. If no module is off, return None.
    """
    declared = taken.operation.ability
    needed = needed_ability(declared, abilities)
    if declared is not None and needed is not None and taken.caller.abilities.isdisjoint({declared, needed}):
        return "ability", needed
    for module in ("api", taken.operation.module):
        if module is not None and module not in taken.company.modules:
            return "module", module
    return None
