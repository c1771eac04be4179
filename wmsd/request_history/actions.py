"""The operations of the request history: list the last requests of a company, and get one of them.

Admins see all requests of their companies. Other users see the requests of their own tokens.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from wmsd.base.problems import not_found
from wmsd.base.strict_json import dumps
from wmsd.contract.access import has_role
from wmsd.contract.context import Caller, Company
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage
from wmsd.request_history.history import END, RequestHistory
from wmsd.request_history.lines import Entry
from wmsd.request_history.refusal_reasons import Refusal
from wmsd.request_history.refusal_remedies import Question, refusal_remedy
from wmsd.request_history.schema import LONGEST_ID, RequestDetail, RequestQuery, RequestShown

MOST_LOOKED_AT: Final = 5_000
"""How many stored requests are searched for one page of the list. The search for the next page continues after
them.
"""


@operation(tag="Requests", answer="cursor", returns=RequestShown)
async def list_requests(
    history: RequestHistory, query: RequestQuery, position: int, company: Company, caller: Caller
) -> CursorPage:
    """List the last requests of the company, the newest first.

    A request is not listed if it names no company, or a company that its token may not use.
    """
    sees_all = _sees_all(caller)
    fits = _fits(query, None if sees_all else caller.actor.user_id)
    return await history.look(partial(_page, history, company.id, position or END, fits, query.per_page))


@operation(tag="Requests", answer="object", returns=RequestDetail)
async def get_request(
    history: RequestHistory, request_id: str, company: Company, caller: Caller
) -> dict[str, object]:
    """Get one of the last requests.

    If the request was refused, the answer also has the reason, and what to do about it.
    """
    sees_all = _sees_all(caller)
    found = await history.look(partial(_find, history, company.id, request_id[:LONGEST_ID]))
    if found is None or not (sees_all or found.shown["user_id"] == caller.actor.user_id):
        raise not_found("request")
    shown, rest = dict(found.shown), json.loads(found.rest)
    refusal = rest.pop("refusal")
    advice = None
    if refusal is not None:
        was_read = rest["body"] is not None or not rest["body_bytes"]
        advice = await history.platform.read(
            lambda tx: refusal_remedy(
                Question(
                    tx, Refusal(**refusal), company, shown["token_id"], sees_all, was_read, history.clock.now()
                )
            )
        )
    del shown["sequence"]
    return {**shown, **rest, "remedy": advice}


def _sees_all(caller: Caller) -> bool:
    """Return True if the caller has at least the role of a company admin.

    The caller's role is the role of the session, which may be lower than the role of the user.
    """
    return caller.role is not None and has_role(caller.role, "company-admin")


def _fits(query: RequestQuery, user_id: int | None) -> Callable[[Mapping[str, Any]], bool]:
    """Return a function that says whether a request matches the query. If `user_id` is given, only requests of
    this user match.
    """
    wanted = {"operation": query.operation, "token_id": query.token, "code": query.code, "user_id": user_id}
    equal = {name: value for name, value in wanted.items() if value is not None}

    def fits(shown: Mapping[str, Any]) -> bool:
        return all(shown[name] == value for name, value in equal.items()) and _has_status(shown, query.status)

    return fits


def _has_status(shown: Mapping[str, Any], wanted: str | None) -> bool:
    if wanted == "refused":
        return shown["code"] is not None
    return wanted is None or str(shown["status"])[0] == wanted[0]


def _page(
    history: RequestHistory, company_id: int, before: int, fits: Callable[[Mapping[str, Any]], bool], most: int
) -> CursorPage:
    found: list[Entry] = []
    has_more = False
    for looked_at, entry in enumerate(history.newest_first(company_id, before), 1):
        if len(found) == most or looked_at > MOST_LOOKED_AT:
            has_more = True
            break
        if entry is not None:
            before = entry.sequence
            if fits(entry.shown):
                found.append(entry)
    records = [
        dumps({name: value for name, value in entry.shown.items() if name != "sequence"}) for entry in found
    ]
    positions = ",".join(str(entry.sequence) for entry in found)
    return CursorPage(",".join(records), before, has_more, positions)


def _find(history: RequestHistory, company_id: int, request_id: str) -> Entry | None:
    named = dumps({"id": request_id})[1:-1].encode()
    entries = history.newest_first(company_id, END, named)
    return next((each for each in entries if each is not None and each.shown["id"] == request_id), None)
