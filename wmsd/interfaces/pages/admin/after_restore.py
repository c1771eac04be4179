"""The page After a restore. It lists what was lost, and old access rights that may be valid again.

An admin settles each entry with one of its buttons.
"""

from collections.abc import Mapping
from typing import Any, Final

from wmsd.base.problems import invalid
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.admin_menu import AFTER_RESTORE
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.rendering import go_to
from wmsd.interfaces.pages.kit.responses import KEY, page_of
from wmsd.interfaces.pages.kit.text.finding_sentences import sentence_of
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.tenants.recovery import actions as recovery

ACTS: Final = {
    "dismiss": recovery.dismiss_lost,
    "remove-second-factor": recovery.remove_lost_second_factors,
    "confirm": recovery.confirm_access,
    "end": recovery.end_access,
    "end-tokens": recovery.end_access,
}
"""The operations by the names of the buttons."""
LONGEST_ID: Final = 15
EVERY: Final = "all"
"""The form value for all entries. A form sends this value instead of the id of one entry."""


async def show(at: Workplace, request: web.Request, refused: Answer | None = None) -> web.Response:
    found = await at.need(AFTER_RESTORE.reads, is_counted=refused is not None)
    return page_of(
        at,
        "after_restore",
        AFTER_RESTORE.name,
        refused,
        found=found,
        message=None if refused is None else _why(refused.body),
        done=request.query.get("done", ""),
        sentence_of=sentence_of,
    )


async def settle(at: Workplace, request: web.Request) -> web.Response:
    """Run the operation of the pressed button. If the operation is refused, show the page with the reason."""
    sent = await browsers.form(at.person.browser)
    act = sent.get("act", "")
    if act not in ACTS:
        raise invalid({"act": ["is not an action of this page"]})
    answer = await at.ask_once(ACTS[act], sent.get(KEY), document=_document(act, sent.get("entry", "")))
    if answer.is_good:
        return go_to(f"{at.address}/{AFTER_RESTORE.name}?done={act}")
    return await show(at, request, answer)


def _document(act: str, entry: str) -> dict[str, Any]:
    """Return the body for the operation of a button. `entry` is the id of an entry, or `all` for every entry."""
    is_id = entry.isascii() and entry.isdecimal() and len(entry) <= LONGEST_ID
    chosen: dict[str, Any] = {"every": True} if entry == EVERY else {"entries": [int(entry) if is_id else entry]}
    return {**chosen, "keep_users": True} if act == "end-tokens" else chosen


def _why(body: Mapping[str, Any]) -> str:
    """Return the reasons of a refusal: the errors of single entries, or else the message of the whole request."""
    errors = [sentence for sentences in body.get("errors", {}).values() for sentence in sentences]
    return "; ".join(errors) or str(body["message"])
