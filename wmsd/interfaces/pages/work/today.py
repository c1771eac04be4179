"""The first page: whether the house is well, and every company of the person, the oldest trouble first."""

from typing import Any, Final
from urllib.parse import urlencode

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.admin.health_words import failed_checks
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.work.today_table import company_rows, today_columns
from wmsd.platform.admin_view.actions import get_last_examination
from wmsd.platform.discovery import get_health
from wmsd.platform.today.actions import get_today
from wmsd.tenants.accounts.ending_tokens import count_ending_tokens
from wmsd.warehouse.document_kinds import DOCUMENTS

PER_PAGE: Final = 50
PAGES_OF: Final = {kind.table.name: kind.table.name.replace("_", "-") for kind in DOCUMENTS}
"""In addresses, by the name of the kind."""


async def show(at: Workplace, request: web.Request) -> web.Response:
    found = await at.ask(get_health)
    health = found.body if found.status == 503 else found.needed()
    asked = {name: request.query[name] for name in ("search", "page") if request.query.get(name)}
    answer = await at.ask(get_today, query={**asked, "per_page": str(PER_PAGE)}, is_counted=True)
    if answer.status == 422:  # a page that there is not, or a search that is too long
        answer = await at.ask(get_today, query={"per_page": str(PER_PAGE)})
        asked = {}
    today = answer.needed()
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
        given_up_at=_given_up_at(today["companies"]),
        columns=today_columns(),
        company_rows=company_rows,
    )


def _given_up_at(companies: list[dict[str, Any]]) -> str:
    """Where those given up are: at the one company that has some, or in the list of companies."""
    having = [each["id"] for each in companies if each["given_up"]]
    return f"/companies/{having[0]}/webhooks" if len(having) == 1 else "#companies"


def _address(asked: dict[str, str], number: int) -> str:
    return f"/today?{urlencode({**asked, 'page': number})}"
