"""The page Health with the findings of the doctor. The pages Backups and Jobs have the same structure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.admin import health_words
from wmsd.interfaces.pages.admin.health_words import REMEDIES, words_of
from wmsd.interfaces.pages.admin.recovery_phrase import lost_without
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.admin_menu import BACKUPS, HEALTH, RECOVERY, AdminPage
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.rendering import go_to
from wmsd.interfaces.pages.kit.responses import KEY, page_of
from wmsd.interfaces.pages.kit.workplace import Workplace

BEGUN: Final = "begun"


async def show(
    shown: AdminPage, at: Workplace, request: web.Request, refused: Answer | None = None
) -> web.Response:
    found = await at.need(shown.reads, is_counted=refused is not None)
    keys = await at.need(RECOVERY.reads, is_counted=True) if shown in (BACKUPS, HEALTH) else None
    return page_of(
        at,
        shown.name,
        shown.name,
        refused,
        found=found,
        keys=keys,
        lost=None if keys is None else lost_without(keys),
        has_begun=request.query.get("done") == BEGUN,
        words_of=words_of,
        alerts=health_words,
        remedies=REMEDIES,
        kinds=_kinds(found),
    )


async def begin(shown: AdminPage, at: Workplace, request: web.Request) -> web.Response:
    """Run the operation that the page's button starts, such as a backup. If the operation is refused, show the
    page with the reason.
    """
    sent = await browsers.form(at.person.browser)
    assert shown.begins is not None
    answer = await at.ask_once(shown.begins, sent.get(KEY))
    if answer.is_good:
        return go_to(f"{at.address}/{shown.name}?done={BEGUN}")
    return await show(shown, at, request, answer)


def _kinds(found: Mapping[str, Any]) -> Sequence[str]:
    """Return the different kinds of the doctor's latest findings."""
    last = found.get("examination", {}).get("last") or {"findings": []}
    return list(dict.fromkeys(each["kind"] for each in last["findings"]))
