"""What is kept of a request, as a line of text: what lists show, a tab, the rest, and a tab.

A line that does not end with a tab was cut off.
"""

import json
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from wmsd.app.call import MOST_KEPT, Call, Part
from wmsd.app.request_history import masking, reasons
from wmsd.app.request_history.reasons import Lack, Refusal
from wmsd.base import timestamps
from wmsd.base.access import needed_ability
from wmsd.base.strict_json import dumps

REQUEST_HEADERS: Final = (
    *("Accept", "Accept-Encoding", "Accept-Language", "Content-Encoding", "Content-Length", "Content-Type"),
    *("Host", "Idempotency-Key", "If-Match", "If-None-Match", "Origin", "Transfer-Encoding", "User-Agent"),
    *("X-Company-Id", "X-Three-Pl-Id"),
)
"""Those that hold no secrets. No other is ever kept."""
ANSWER_HEADERS: Final = (
    *("Allow", "Content-Type", "Deprecation", "ETag", "Idempotent-Replayed", "Location", "Retry-After", "Sunset"),
    *("X-RateLimit-Limit", "X-RateLimit-Remaining"),
)
LONGEST_HEADER: Final = 300
LONGEST_PATH: Final = 2000
MOST_OF_GOOD_ANSWER: Final = 2 * 1024
GRAPHQL: Final = "run_graphql"
NOT_RUN: Final = '{"errors":'
CODE: Final = re.compile(r'"code":"(\w+)"')
"""In a refusal that is too long to be kept whole."""


class Taken(NamedTuple):
    """A request that was answered, as the event loop hands it over: nothing is formatted yet."""

    at: datetime
    seconds: float
    method: str
    path: str
    headers: Sequence[str | None]
    """Those of REQUEST_HEADERS."""
    call: Call
    status: int
    answer: bytes
    """Its beginning."""
    answer_bytes: int
    answer_headers: Mapping[str, str]

    @property
    def company_id(self) -> int:
        assert self.call.known is not None
        return self.call.known[1].id


class Entry(NamedTuple):
    """A kept request: what lists show, and the text of the rest."""

    shown: dict[str, Any]
    rest: str

    @property
    def sequence(self) -> int:
        return int(self.shown["sequence"])


def line_of(taken: Taken, sequence: int, abilities: Container[str], left_out: int) -> bytes:
    """`sequence`: its place among the company's. `abilities`: those in force."""
    call = taken.call
    assert call.known is not None
    caller, _ = call.known
    is_graphql = call.operation.name == GRAPHQL
    answer = taken.answer.decode("utf-8", "ignore")
    parts = call.parts
    if is_graphql:
        answer, parts = masking.graphql_answer(answer), [_masked(part) for part in parts]
    refusal = refusal_of(taken, answer, parts, abilities)
    shown = {
        "sequence": sequence,
        "id": call.request_id,
        "at": timestamps.to_text(taken.at),
        "method": taken.method,
        "path": masking.path(taken.path[:LONGEST_PATH], is_graphql),
        "status": taken.status,
        "operation": call.operation.name,
        "code": None if refusal is None else refusal.code,
        "why": None if refusal is None else reasons.why(refusal),
        "who": caller.actor.name,
        "user_id": caller.actor.user_id,
        "token_id": caller.actor.token_id,
        "milliseconds": round(taken.seconds * 1000, 1),
    }
    rest = {
        "address": call.address,
        "headers": _headers(zip(REQUEST_HEADERS, taken.headers, strict=True)),
        "body": masking.body(call.sent.decode("utf-8", "ignore"), is_graphql) or None,
        "body_bytes": call.body_bytes,
        "answer": answer or None,
        "answer_bytes": taken.answer_bytes,
        "answer_headers": _headers((name, taken.answer_headers.get(name)) for name in ANSWER_HEADERS),
        "parts": [part._asdict() for part in parts],
        "left_out": left_out,
        "refusal": None if refusal is None else refusal.kept(),
    }
    return masking.text(f"{dumps(shown)}\t{dumps(rest)}\t\n").encode("utf-8", "replace")


def read(line: bytes) -> Entry | None:
    """None for a line that a crash or a full disk has cut off."""
    parts = line.rstrip(b"\n").split(b"\t")
    if len(parts) != 3 or parts[2]:
        return None
    try:
        return Entry(json.loads(parts[0]), parts[1].decode())
    except ValueError:
        return None


def _headers(found: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    return {name: value for name, value in found if value is not None}


def beginning(status: int, answer: bytes) -> bytes:
    """What is kept of an answer: more of a refusal than of others."""
    return answer[: MOST_KEPT if status >= 400 else MOST_OF_GOOD_ANSWER]


def _masked(part: Part) -> Part:
    return part._replace(message=masking.message(part.message))


def refusal_of(taken: Taken, answer: str, parts: Sequence[Part], abilities: Container[str]) -> Refusal | None:
    """Why the request, or a part of it, was refused. None when it was not."""
    if taken.status < 400:
        return _of_parts(taken, answer, parts)
    problem = _problem(answer)
    return Refusal(
        status=taken.status,
        code=problem["code"],
        message=problem["message"],
        errors=problem.get("errors", {}),
        details=problem.get("details") or {},
        retry_after=taken.answer_headers.get("Retry-After"),
        limit=taken.answer_headers.get("X-RateLimit-Limit"),
        noun=taken.call.operation.tag,
        summary=taken.call.operation.summary,
        lack=_lack(taken.call, abilities) if problem["code"] == "FORBIDDEN" else None,
    )


def _of_parts(taken: Taken, answer: str, parts: Sequence[Part]) -> Refusal | None:
    refused = [part for part in parts if part.status >= 400]
    if not refused and answer.startswith(NOT_RUN):  # a document, for clients that read only plain JSON
        problem = _problem(answer)
        refused = [Part("The document", 400, problem["code"], problem["message"])]
    if not refused:
        return None
    first, more = refused[0], len(refused) - 1
    others = f" {more} more of its parts {'was' if more == 1 else 'were'} refused too." if more else ""
    message = f"{first.name}: {first.message}{others}"
    return Refusal(first.status, first.code, message, noun=taken.call.operation.tag, is_part=True)


def _problem(answer: str) -> dict[str, Any]:
    """The refusal in the form of the API, of GraphQL, or of problem details."""
    try:
        body = json.loads(answer)
    except ValueError:
        found = CODE.search(answer)
        return {"code": found[1] if found else "", "message": "The answer is too long to be kept whole."}
    if isinstance(body.get("errors"), list):
        first = body["errors"][0]
        body = {"message": first["message"], **first.get("extensions", {})}
    return {**body, "code": body.get("code", ""), "message": body.get("message") or body.get("detail", "")}


def _lack(call: Call, abilities: Container[str]) -> Lack | None:
    """The ability that the caller lacks, or the module that is off."""
    assert call.known is not None
    caller, company = call.known
    declared = call.operation.ability
    needed = needed_ability(declared, abilities)
    if declared is not None and needed is not None and caller.abilities.isdisjoint({declared, needed}):
        return Lack("ability", needed)
    for module in ("api", call.operation.module):
        if module is not None and module not in company.modules:
            return Lack("module", module)
    return None
