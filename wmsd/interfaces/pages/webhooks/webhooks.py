"""The list of a company's webhooks with their state, the page of one webhook, and the form for a new secret."""

from typing import Final

from wmsd.events.webhooks.actions import get_webhook, list_webhooks, rotate_webhook_secret
from wmsd.events.webhooks.figures import list_webhook_figures
from wmsd.events.webhooks.receiver_rules import ADDRESS, new_secret
from wmsd.events.webhooks.rules import MOST_SUBSCRIPTIONS
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.rendering import go_to
from wmsd.interfaces.pages.kit.resources import WEBHOOKS
from wmsd.interfaces.pages.kit.responses import KEY, page_of
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.records import browse
from wmsd.interfaces.pages.records.browse import csv_of

PER_PAGE: Final = MOST_SUBSCRIPTIONS
"""The number of webhooks on the page. A company cannot have more, so the page always shows all."""


async def show(at: Workplace, request: web.Request) -> web.Response:
    found = await at.need(list_webhooks, query={"per_page": str(PER_PAGE)})
    figures = await at.need(list_webhook_figures, is_counted=True)
    by_id = {each["id"]: each for each in figures["data"]}
    return page_of(
        at,
        "webhooks",
        WEBHOOKS.name,
        resource=WEBHOOKS,
        done=WEBHOOKS.message_for(request.query.get("done", "")),
        webhooks=[(each, by_id[each["id"]]) for each in found["data"] if each["id"] in by_id],
        csv=csv_of(at, WEBHOOKS, {}),
    )


async def show_one(at: Workplace, request: web.Request) -> web.Response:
    """Show the page of a webhook. If the webhook sends to a test receiver, redirect to the receiver's page."""
    webhook = await at.need(get_webhook, path={"id": request.match_info["id"]})
    if webhook["url"] != ADDRESS:
        return await browse.show_record(at, request)
    return go_to(f"{request.path}/receiver{'?' if request.query_string else ''}{request.query_string}")


async def show_new_secret(
    at: Workplace, request: web.Request, typed: str | None = None, refused: Answer | None = None
) -> web.Response:
    """Show the form that gives a webhook a new secret.

    The form already contains a new secret, so that people need not invent one. No other page shows the secret.
    """
    at.check(rotate_webhook_secret)
    webhook = await at.need(get_webhook, path={"id": request.match_info["id"]}, is_counted=refused is not None)
    secret = new_secret() if typed is None else typed
    return page_of(at, "rotate_secret", WEBHOOKS.name, refused, webhook=webhook, secret=secret)


async def rotate_secret(at: Workplace, request: web.Request) -> web.Response:
    at.check(rotate_webhook_secret)
    sent = await browsers.form(at.person.browser)
    secret = sent.get("secret", "").strip()
    answer = await at.ask_once(
        rotate_webhook_secret,
        sent.get(KEY),
        path={"id": request.match_info["id"]},
        document={"secret": secret},
    )
    if not answer.is_good:
        return await show_new_secret(at, request, secret, answer)
    return page_of(at, "new_secret", WEBHOOKS.name, webhook=answer.body, secret=secret)
