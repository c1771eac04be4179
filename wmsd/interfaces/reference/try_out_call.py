"""Sends try-out requests to the dispatcher, and treats them as the HTTP server treats requests from outside.

Each request counts towards the company's rate limit. A request with a token is a request of the API: it is logged,
and listed on the page Requests. A request without a token belongs to the session of the browser.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from functools import partial
from typing import Final
from urllib.parse import quote, urlencode

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import printable
from wmsd.contract.route import Route
from wmsd.dispatch.call import Call, LoadBody, Loaded, Reply
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.http import requests
from wmsd.interfaces.http.request_history import Answered, Asked, keep_call
from wmsd.interfaces.http.request_log import RequestLog
from wmsd.interfaces.pages.kit.browser import Browser

JSON: Final = "application/json"
COMPANY: Final = "X-Company-Id"
Read = Callable[[LoadBody], Awaitable[Loaded]]


async def as_it_is(load: LoadBody) -> Loaded:
    return await load()


@dataclass(frozen=True, slots=True)
class Sent:
    """A try-out request, as the user has entered it. If `token` is None, the signed-in person sends it."""

    route: Route
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: str | None
    token: str | None = field(repr=False)
    accept: str = JSON
    read: Read = as_it_is
    """The function that loads the body and converts it into the input of the operation."""
    answered: Callable[[str | None, Reply], Reply] = lambda _, reply: reply
    """The function that converts the answer to the format of the interface. Its arguments are the Accept header
    and the answer.
    """

    @property
    def target(self) -> str:
        """The path of the request, with values in place of parameters such as `{id}`."""
        found = self.route.path
        for name, value in self.path.items():
            found = found.replace(f"{{{name}}}", quote(value, safe=""))
        return found

    @property
    def target_with_query(self) -> str:
        return f"{self.target}?{urlencode(self.query)}" if self.query else self.target

    @property
    def all_headers(self) -> dict[str, str]:
        accept = {} if self.accept == JSON else {"Accept": self.accept}
        return {**self.headers, **accept, **({} if self.body is None else {"Content-Type": JSON})}


@dataclass(frozen=True, slots=True)
class Tried:
    """The answer to a try-out request.

    If a company's request history lists the request, `kept_for` is the id of the company. Otherwise it is None.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    milliseconds: float
    request_id: str
    kept_for: int | None


class Sender:
    def __init__(self, installation: Installation, log: RequestLog) -> None:
        self._installation = installation
        self._log = log

    async def send(self, browser: Browser, sent: Sent) -> Tried:
        call = self._call(browser, sent)
        if sent.body is not None:
            raw = sent.body.encode()

            async def load() -> Loaded:
                return await requests.read_json(raw, call, self._installation.dispatcher.bodies)

            call.load_body = partial(sent.read, load)
        began = time.perf_counter()
        reply = await self._installation.dispatcher.dispatch(call)
        seconds = time.perf_counter() - began
        reply = sent.answered(call.accept, reply)
        headers = _headers(call, reply)
        kept_for = None
        if call.token is not None:
            self._keep(browser, call, sent, Answered(reply.status, reply.body, headers), seconds)
            if call.known is not None and self._installation.history.is_on:
                kept_for = call.known[1].id
        return Tried(reply.status, headers, reply.body, seconds * 1000, call.request_id, kept_for)

    def _call(self, browser: Browser, sent: Sent) -> Call:
        headers = sent.headers
        return Call(
            operation=sent.route.operation,
            method=sent.route.method,
            target=sent.target,
            address=browser.address,
            request_id=self._installation.ids.unique(),
            origin=browser.origin,
            route_headers=sent.route.headers,
            path={name: printable(value) for name, value in sent.path.items()},
            query=sent.query,
            token=sent.token,
            session=browser.secret if sent.token is None else None,
            is_tried=True,
            agent=browser.request.headers.get("User-Agent", ""),
            company=headers.get(COMPANY),
            operator=headers.get("X-Three-Pl-Id"),
            idempotency_key=headers.get("Idempotency-Key"),
            if_match=headers.get("If-Match"),
            if_none_match=headers.get("If-None-Match"),
            accept=sent.accept,
        )

    def _keep(self, browser: Browser, call: Call, sent: Sent, answered: Answered, seconds: float) -> None:
        """Log the call, and add it to the request history, as the HTTP server does for requests of the API."""
        agent = browser.request.headers.get("User-Agent")
        length = {} if sent.body is None else {"Content-Length": str(len(sent.body.encode()))}
        head = {**sent.all_headers, **length, **({} if agent is None else {"User-Agent": agent})}
        self._log.write_call(call, sent.target, answered.status, seconds)
        asked = Asked(call.method, sent.target_with_query, head)
        keep_call(self._installation, call, asked, answered, seconds)


def _headers(call: Call, reply: Reply) -> dict[str, str]:
    """Return the headers of the answer, with the headers that the HTTP server adds to each answer."""
    kind = {"Content-Type": JSON} if reply.body else {}
    return {**kind, **reply.headers, "X-Request-Id": call.request_id}
