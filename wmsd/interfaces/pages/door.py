"""The way of the pages to the operations: as the person who is signed in."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from wmsd.accounts import actions as accounts
from wmsd.app.call import Call, Loaded
from wmsd.app.installation import Installation
from wmsd.base.addresses import Network
from wmsd.base.operation import Operation
from wmsd.base.problems import Problem
from wmsd.interfaces.http.request_log import CALL, REQUEST_ID
from wmsd.interfaces.http.server import trusted_proxies
from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages import browser as browsers
from wmsd.interfaces.pages.browser import Browser

SIGN_IN = "/sign-in"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any

    @property
    def is_good(self) -> bool:
        return self.status < 400

    def needed(self) -> Any:
        """The body. Raises Problem for a refusal."""
        if not self.is_good:
            raise Problem(self.body["code"], self.body["message"], status=self.status)
        return self.body


@dataclass(frozen=True, slots=True)
class Person:
    """Who is signed in."""

    browser: Browser
    name: str
    email: str
    role: str


class Door:
    def __init__(self, installation: Installation) -> None:
        self._dispatcher = installation.dispatcher
        self._trusted: Sequence[Network] = trusted_proxies(installation)

    def browser(self, request: web.Request) -> Browser:
        return browsers.read(request, self._trusted)

    async def ask(
        self,
        browser: Browser,
        operation: Operation,
        document: Mapping[str, object] | None = None,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        company_id: str | None = None,
        is_counted: bool = False,
    ) -> Answer:
        """The answer of the operation to this person. `document` is the body. `is_counted`: the limit has counted
        it already, with what it is a part of.
        """
        request = browser.request
        call = request[CALL] = Call(
            operation=operation,
            method="POST" if operation.writes else "GET",
            target=request.path,
            address=browser.address,
            request_id=request[REQUEST_ID],
            origin=browser.origin,
            path=path or {},
            query=query or {},
            session=browser.secret,
            company=company_id,
            is_counted=is_counted,
            agent=request.headers.get("User-Agent", ""),
        )
        if document is not None:
            sent = dict(document)

            async def load() -> Loaded:
                return Loaded(sent, {})

            call.load_body = load
        reply = await self._dispatcher.dispatch(call)
        return Answer(reply.status, json.loads(reply.body, parse_float=Decimal) if reply.body else None)

    async def need(self, browser: Browser, operation: Operation, also: int = 200) -> Any:
        """The body of a good answer; `also` is another good status. Raises Problem for a refusal."""
        answer = await self.ask(browser, operation)
        return answer.body if answer.status == also else answer.needed()

    async def person(self, request: web.Request) -> Person:
        """Who is signed in. Raises HTTPSeeOther: who is not goes to the page for that, and then comes back. Raises
        Problem (429).
        """
        browser = self.browser(request)
        if browser.secret is not None:
            found = await self.ask(browser, accounts.get_profile)
            if found.status != 401:
                return Person(browser, **found.needed())
        self._dispatcher.count_open(browser.address)
        came_for = request.path_qs if request.method == "GET" else "/"
        raise web.HTTPSeeOther(f"{SIGN_IN}?next={quote(came_for, safe='')}")
