"""The first page: whether the house is well, and every company of the person."""

from typing import Any

from wmsd.accounts import actions as accounts
from wmsd.app.discovery import get_health
from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages.door import Door
from wmsd.interfaces.pages.rendering import page


class Today:
    def __init__(self, door: Door) -> None:
        self._door = door

    async def show(self, request: web.Request) -> web.Response:
        person = await self._door.person(request)
        health = await self._door.need(person.browser, get_health, also=503)
        companies = await self._door.need(person.browser, accounts.list_companies)
        return page(
            "today",
            person=person,
            current="today",
            health=health["status"],
            troubles=troubles(health["checks"]),
            backup=health["checks"]["backup"],
            companies=companies["data"],
        )


WHAT_IS_WRONG = {
    "database": "A company's file cannot be used. The log and wmsd doctor say which and why.",
    "job_queue": "The work in the background stands still. Look at the log.",
    "disk": "The disk is nearly full. Make room.",
    "webhooks": "Webhooks were switched off because their receivers failed for days.",
    "clock": "The clock was set. Nothing old is deleted until somebody confirms it with wmsd clock confirm.",
    "backup": "There is no backup that can be relied on. wmsd backup schedule says why.",
    "replica": "The replica is behind. wmsd replica status says which files.",
}


def troubles(checks: dict[str, Any]) -> list[str]:
    """A sentence for each check that fails: what is wrong, and what to do."""
    return [
        WHAT_IS_WRONG.get(name, f"The check {name} fails.") for name, found in checks.items() if not found["ok"]
    ]
