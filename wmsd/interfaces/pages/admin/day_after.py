"""The page The day after: what a restore has lost, and whose access it may have brought back, with what settles
each.
"""

import secrets
from collections.abc import Mapping
from typing import Any, Final

from wmsd.base.problems import invalid
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.admin_menu import DAY_AFTER
from wmsd.interfaces.pages.kit.browser import FORM_TOKEN
from wmsd.interfaces.pages.kit.form_repeats import SentOnce
from wmsd.interfaces.pages.kit.rendering import go_to, render_page
from wmsd.interfaces.pages.kit.session_door import Answer, Door
from wmsd.interfaces.pages.kit.text.finding_sentences import sentence_of
from wmsd.interfaces.pages.kit.workplace import Workplace, workplace
from wmsd.interfaces.pages.records.act import KEY
from wmsd.tenants.recovery import actions as recovery

ACTS: Final = {
    "dismiss": recovery.dismiss_lost,
    "remove-second-factor": recovery.remove_lost_second_factors,
    "confirm": recovery.confirm_access,
    "end": recovery.end_access,
    "end-tokens": recovery.end_access,
}
"""By the names of the buttons."""
LONGEST_ID: Final = 15
EVERY: Final = "all"
"""In place of the id of an entry."""


class DayAfter:
    def __init__(self, door: Door) -> None:
        self._door = door
        self._sent_once = SentOnce()

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(await workplace(self._door, request), request)

    async def settle(self, request: web.Request) -> web.Response:
        """Does what the button says. A refusal is shown above the page."""
        at = await workplace(self._door, request)
        sent = await browsers.form(at.person.browser)
        act = sent.get("act", "")
        if act not in ACTS:
            raise invalid({"act": ["is not what this page can do"]})
        with self._sent_once.of(at, sent.get(KEY)) as key:
            answer = await at.ask(ACTS[act], document=_document(act, sent.get("entry", "")))
            key.is_done = answer.is_good
        if answer.is_good:
            return go_to(f"{at.address}/{DAY_AFTER.name}?done={act}")
        return await self._page(at, request, answer)

    async def _page(self, at: Workplace, request: web.Request, refused: Answer | None = None) -> web.Response:
        found = await at.need(DAY_AFTER.reads, is_counted=refused is not None)
        return render_page(
            "day_after",
            200 if refused is None else refused.status,
            person=at.person,
            at=at,
            current=DAY_AFTER.name,
            found=found,
            message=None if refused is None else _why(refused.body),
            done=request.query.get("done", ""),
            hidden={FORM_TOKEN: at.person.browser.form_token, KEY: secrets.token_urlsafe(16)},
            sentence_of=sentence_of,
        )


def _document(act: str, entry: str) -> dict[str, Any]:
    """`entry` is an id, or says that all are meant."""
    is_id = entry.isascii() and entry.isdecimal() and len(entry) <= LONGEST_ID
    chosen: dict[str, Any] = {"every": True} if entry == EVERY else {"entries": [int(entry) if is_id else entry]}
    return {**chosen, "keep_users": True} if act == "end-tokens" else chosen


def _why(body: Mapping[str, Any]) -> str:
    """The sentence of an entry that was refused is more exact than that of the whole."""
    errors = [sentence for sentences in body.get("errors", {}).values() for sentence in sentences]
    return "; ".join(errors) or str(body["message"])
