"""The first page: the state of the installation, and the person's companies.

The companies with the oldest problems come first.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.admin.health_words import failed_checks
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.text import zone
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.words import grouped_number
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.work.today_table import Column, company_rows, list_of_total, today_columns
from wmsd.platform.admin_view.actions import get_last_examination
from wmsd.platform.discovery import get_health
from wmsd.platform.today.actions import get_today
from wmsd.tenants.accounts.ending_tokens import count_ending_tokens
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.purchase_orders.kind import PURCHASE_ORDERS
from wmsd.warehouse.sales_orders.kind import SALES_ORDERS

PER_PAGE: Final = 50
PAGES_OF: Final = {kind.table.name: kind.table.name.replace("_", "-") for kind in DOCUMENTS}
"""The name of each kind of document in page addresses. The key is the name of its table."""


async def show(at: Workplace, request: web.Request) -> web.Response:
    found = await at.ask(get_health)
    health = found.body if found.status == 503 else found.needed()
    asked = {name: request.query[name] for name in ("search", "page") if request.query.get(name)}
    answer = await at.ask(get_today, query={**asked, "per_page": str(PER_PAGE)}, is_counted=True)
    if answer.status == 422:  # the page does not exist, or the search text is too long
        answer = await at.ask(get_today, query={"per_page": str(PER_PAGE)})
        asked = {}
    today = answer.needed()
    columns = today_columns(zone.today())
    number = int(asked.get("page", 1))
    ending = await at.ask(count_ending_tokens, is_counted=True)
    examined = await at.ask(get_last_examination, is_counted=True)
    return page_of(
        at,
        "today",
        "today",
        health=health["status"],
        examined=examined.needed(),
        troubles=failed_checks({name: each for name, each in health["checks"].items() if name != "keys"}),
        backup=health["checks"]["backup"],
        is_recovering="recovery" in health["checks"],
        keys=health["checks"].get("keys", {}),
        today=today,
        ending=ending.needed(),
        search=asked.get("search", ""),
        before=_address(asked, number - 1) if number > 1 else None,
        after=_address(asked, number + 1) if number * PER_PAGE < today["companies_in_all"] else None,
        pages_of=PAGES_OF,
        totals=_totals(today, columns),
        wait_reason=wait_reason,
        more_late=_more_late(today),
        columns=columns,
        day=zone.today(),
        company_rows=company_rows,
    )


class Total(NamedTuple):
    """A number summed over all companies, with its link. `value` is None if the person may not see the number."""

    value: int | None
    text: str
    tone: str
    address: str


def _totals(today: Mapping[str, Any], columns: Sequence[Column]) -> list[Total]:
    texts = {
        "late_orders": _("sales orders late"),
        "to_load_today": _("sales orders to load today"),
        "orders_not_taken": _("sales orders not started"),
        "late_inbound": _("purchase orders late"),
        "expected_today": _("purchase orders expected today"),
        "given_up": _("failed webhook deliveries"),
        "low": _("articles low on stock"),
    }
    tones = {each.name: each.tone for each in columns}
    return [
        Total(value, text, tones[name], list_of_total(name, value or 0, today["companies"]))
        for name, text in texts.items()
        for value in [today["totals"][name]]
    ]


def _more_late(today: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return links to late documents that the page does not show, one for each kind of document.

    A link is a text with the number of these documents, and the address of the list.
    """
    found = []
    for kind, name, text in (
        (SALES_ORDERS, "late_orders", _("Late sales orders not shown here: %(number)s")),
        (PURCHASE_ORDERS, "late_inbound", _("Late purchase orders not shown here: %(number)s")),
    ):
        total = today["totals"][name] or 0
        more = total - sum(each["kind"] == kind.table.name for each in today["late"])
        if more > 0:
            found.append((text % {"number": grouped_number(more)}, list_of_total(name, total, today["companies"])))
    return found


def wait_reason(late: Mapping[str, Any]) -> str:
    """Return a sentence that says what a late document waits for."""
    on, is_new = late["waits_for"], late["status"] == "CREAT"
    if late["kind"] == SALES_ORDERS.table.name:
        if is_new:
            return _("Not started.")
        return _("On transport %(code)s, not loaded.") % {"code": on} if on else _("In work, not loaded.")
    if on:
        return _("Reception %(code)s is not finished.") % {"code": on}
    return _("No goods received yet.") if is_new else _("Some of the goods are not received yet.")


def _address(asked: dict[str, str], number: int) -> str:
    return f"/today?{urlencode({**asked, 'page': number})}"
