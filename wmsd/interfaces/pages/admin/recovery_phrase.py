"""The page of the recovery phrase: it is created and shown once, checked, replaced, or declined."""

from collections.abc import Mapping
from typing import Any, Final

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.admin_menu import RECOVERY
from wmsd.interfaces.pages.kit.browser import FORM_TOKEN
from wmsd.interfaces.pages.kit.rendering import go_to, render_page
from wmsd.interfaces.pages.kit.session_door import Answer, Door
from wmsd.interfaces.pages.kit.text.language import found_text
from wmsd.interfaces.pages.kit.workplace import Workplace, workplace
from wmsd.platform.admin_view import recovery_phrase as recovery

ADDRESS: Final = f"/admin/{RECOVERY.name}"


def lost_without(found: Mapping[str, Any]) -> str:
    """What is lost with this box, in the language of the page. Empty where the question is settled."""
    return found_text(found["says"]).format_map(found["facts"]) if found["says"] else ""


class RecoveryPhrases:
    def __init__(self, door: Door) -> None:
        self._door = door

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(await workplace(self._door, request), request.query.get("done"))

    async def do(self, request: web.Request) -> web.Response:
        """What the pressed button says. A form that is sent twice creates two phrases, of which the second counts,
        as it is the one on the screen; after a check a form of before it creates none.
        """
        at = await workplace(self._door, request)
        sent = await browsers.form(at.person.browser)
        match sent.get("act"):
            case "create":
                wanted = {"replaces": sent.get("replaces") or None}
                answer = await at.ask(recovery.create_recovery_phrase, document=wanted)
                if answer.is_good:
                    return render_page(
                        "recovery_created", person=at.person, at=at, current=RECOVERY.name, **answer.body
                    )
            case "decline":
                answer = await at.ask(recovery.decline_recovery_phrase)
            case _:
                typed = sent.get("phrase", "")
                answer = await at.ask(recovery.check_recovery_phrase, document={"phrase": typed})
                if not answer.is_good:
                    return await self._page(at, None, answer, typed)
                return go_to(f"{ADDRESS}?done=checked")
        return go_to(ADDRESS) if answer.is_good else await self._page(at, None, answer)

    async def _page(
        self, at: Workplace, done: str | None, refused: Answer | None = None, typed: str = ""
    ) -> web.Response:
        """`typed`: the words that somebody may correct."""
        found = await at.need(RECOVERY.reads, is_counted=refused is not None)
        body = {} if refused is None else refused.body
        return render_page(
            "recovery_phrase",
            200 if refused is None else refused.status,
            person=at.person,
            at=at,
            current=RECOVERY.name,
            form_token={FORM_TOKEN: at.person.browser.form_token},
            found=found,
            lost=lost_without(found),
            is_checked=done == "checked" and found["state"] == "phrase",
            typed=typed,
            message=None if "phrase" in body.get("errors", {}) else body.get("message"),
            errors=body.get("errors", {}),
        )
