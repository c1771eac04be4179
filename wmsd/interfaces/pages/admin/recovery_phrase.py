"""The page Recovery phrase. An admin creates, checks, replaces or declines the phrase. wmsd shows it only once."""

from collections.abc import Mapping
from typing import Any, Final

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.admin_menu import RECOVERY
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.rendering import go_to
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.text.language import finding_text
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.platform.admin_view import recovery_phrase

ADDRESS: Final = f"/admin/{RECOVERY.name}"


def lost_without(found: Mapping[str, Any]) -> str:
    """Return a sentence that says what is lost if this machine is lost. It is in the language of the page.

    `found` says how the installation's keys are protected. Return "" if an admin has nothing to decide about the
    keys.
    """
    return finding_text(found["says"]).format_map(found["facts"]) if found["says"] else ""


async def show(
    at: Workplace, request: web.Request, refused: Answer | None = None, typed: str = ""
) -> web.Response:
    """Show the page. `refused` is the answer of an operation that was refused.

    `typed` is the phrase that the person has typed. The page shows it again, so that the person can correct it.
    """
    found = await at.need(RECOVERY.reads, is_counted=refused is not None)
    was_checked = refused is None and request.query.get("done") == "checked"
    wrong = {} if refused is None else refused.body.get("errors", {})
    return page_of(
        at,
        "recovery_phrase",
        RECOVERY.name,
        refused,
        found=found,
        lost=lost_without(found),
        is_checked=was_checked and found["state"] == "phrase",
        typed=typed,
        **({"message": None} if "phrase" in wrong else {}),
    )


async def do(at: Workplace, request: web.Request) -> web.Response:
    """Run the action of the pressed button.

    If the form that creates a phrase is sent twice, it creates two phrases. The second phrase is shown, and is the
    valid one. Once a phrase has been checked, a form that was opened before the check creates no phrase.
    """
    sent = await browsers.form(at.person.browser)
    match sent.get("act"):
        case "create":
            wanted = {"replaces": sent.get("replaces") or None}
            answer = await at.ask(recovery_phrase.create_recovery_phrase, document=wanted)
            if answer.is_good:
                return page_of(at, "recovery_created", RECOVERY.name, **answer.body)
        case "decline":
            answer = await at.ask(recovery_phrase.decline_recovery_phrase)
        case _:
            typed = sent.get("phrase", "")
            answer = await at.ask(recovery_phrase.check_recovery_phrase, document={"phrase": typed})
            if not answer.is_good:
                return await show(at, request, answer, typed)
            return go_to(f"{ADDRESS}?done=checked")
    return go_to(ADDRESS) if answer.is_good else await show(at, request, answer)
