"""The calls from pages to operations, on behalf of the signed-in person."""

import json
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol, TypedDict, TypeVar, Unpack
from urllib.parse import quote

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.base.time_zones import time_zone_of
from wmsd.contract.access import Role, has_role
from wmsd.contract.command_hints import NOTHING_ADDED, Complete
from wmsd.contract.context import Company
from wmsd.contract.operation import Operation
from wmsd.dispatch.call import Call, Loaded
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.command_hints import COMPLETE
from wmsd.interfaces.http.request_log import CALL, REQUEST_ID
from wmsd.interfaces.http.server import front_of
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.browser import PLAIN, Bounds, Browser
from wmsd.interfaces.pages.kit.text import language, zone
from wmsd.tenants.accounts import profile_actions

HOME = "/today"
SIGN_IN = "/sign-in"
LOST = "lost=form"
"""A parameter of the sign-in page. It means that a person sent a form after the session had ended."""
SECOND_FACTOR = "/account/second-factor"
MOST_KEYS = 2000
AGAIN = (
    "This form was already sent, and its action is done or in progress. Check the result before you fill in a "
    "new form."
)


class HasStatus(Protocol):
    @property
    def status(self) -> int: ...


Answering = TypeVar("Answering", bound=HasStatus)


class Sent(TypedDict, total=False):
    """Optional arguments for a call of an operation.

    `document` is the body. `is_counted`: the rate limit has already counted the call, as a part of another call.
    `is_long`: the operation reads much data. `is_brief`: the answer has the number of lines instead of the lines.
    `within`: only records with these ids are listed.
    """

    document: Mapping[str, object]
    path: Mapping[str, str]
    query: Mapping[str, str]
    if_match: str | None
    idempotency_key: str | None
    is_counted: bool
    is_long: bool
    is_brief: bool
    within: Sequence[int] | None


class SignedOut(web.HTTPSeeOther):
    """Redirects a browser without a valid session to the sign-in page."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any
    etag: str | None = None

    @property
    def is_good(self) -> bool:
        return self.status < 400

    def needed(self) -> Any:
        """Return the body. Raise Problem if the operation was refused."""
        if not self.is_good:
            raise Problem(self.body["code"], self.body["message"], status=self.status)
        return self.body


@dataclass(frozen=True, slots=True)
class Person:
    """The signed-in person."""

    browser: Browser
    name: str
    email: str
    role: Role
    abilities: Sequence[str]
    installation: str
    """The name of the installation that people see."""
    has_password: bool
    """False if the person signs in by single sign-on only."""
    second_factor: str
    """`off`, `on` or `demanded`."""
    language: str | None
    """The language that the person has chosen, or None."""
    time_zone: str | None
    """The time zone that the person has chosen, or None."""
    new_rights: str | None
    """How the person gets rights that were added after this session began. None if there are no such rights.

    `sign-in`: by signing in again. `link`: by single sign-on, or by a link to a new password.
    """
    complete: Complete = NOTHING_ADDED
    """A function that adds the folders of the installation to the commands in a text.

    A platform admin types these commands on the server. For other users, the function changes nothing, so they do
    not learn where the files are.
    """


PERSON = web.RequestKey("person", Person)
COUNTED = web.RequestKey("counted", list[str])
"""The keys of the rate limit windows in which this request was counted.

Writes have a separate limit. So the first write of the request removes these counts.
"""
RETRY_AFTER = web.RequestKey("retry_after", str)
"""The number of seconds after which the page may call a refused operation again."""


class PageClient:
    def __init__(self, installation: Installation) -> None:
        self._dispatcher = installation.dispatcher
        self._access = installation.access
        self._clock = installation.clock
        self.time_zone = installation.time_zone
        """The time zone of companies and people that have not set one."""
        self.work = installation.dispatcher.work
        self.lifetimes = installation.settings.sessions.lifetimes
        """The lifetimes of sessions."""
        self.abilities: Mapping[str, str] = installation.abilities
        """The abilities that users may have, each with what it allows."""
        self._front = front_of(installation)
        self._cookie = browsers.cookie_name(installation.files.installation)
        self._sent_keys: OrderedDict[tuple[str, str], None] = OrderedDict()
        """The keys of forms that were sent. Each key comes with the form token of its session."""
        self.arriving: Counter[str] = Counter()
        """How many files are being uploaded, by the address of their company."""

    @property
    def now(self) -> datetime:
        return self._clock.now()

    async def done_once(
        self, browser: Browser, key: str | None, do: Callable[[], Awaitable[Answering]]
    ) -> Answering:
        """Run `do`, and return its answer. `key` is the key of the form that a person has sent.

        Raise Problem (409) if a form with this key was already sent and was not refused. Without a key, always run
        `do`.
        """
        if not key:
            return await do()
        own = browser.form_token, key
        if own in self._sent_keys:
            raise Problem("INVALID_STATUS", AGAIN)
        self._sent_keys[own] = None
        if len(self._sent_keys) > MOST_KEYS:
            self._sent_keys.popitem(last=False)
        is_done = False
        try:
            answer = await do()
            is_done = answer.status < 400
        finally:
            if not is_done:
                self._sent_keys.pop(own, None)
        return answer

    def browser(self, request: web.Request) -> Browser:
        return browsers.read(request, self._front, self._cookie)

    async def sent_form(self, request: web.Request, bounds: Bounds = PLAIN) -> tuple[Browser, dict[str, str]]:
        """Return the browser and the form that it sends. The person need not be signed in.

        Raise Problem if the form is refused.
        """
        browser = self.browser(request)
        return browser, await browsers.form(browser, with_token=False, bounds=bounds)

    async def user_of(self, secret: str | None) -> int | None:
        """Return the id of the session's user, even after the session has ended. Return None for an unknown
        session.
        """
        return None if secret is None else await self._access.session_user(secret)

    async def ask(
        self, browser: Browser, operation: Operation, company_id: str | None = None, **sent: Unpack[Sent]
    ) -> Answer:
        """Run the operation for the person of this browser, and return the answer, even if the operation is
        refused.
        """
        request = browser.request
        call = request[CALL] = Call(
            operation=operation,
            method="POST" if operation.writes else "GET",
            target=request.path,
            address=browser.address,
            request_id=request[REQUEST_ID],
            origin=browser.origin,
            path=sent.get("path", {}),
            query=sent.get("query", {}),
            if_match=sent.get("if_match"),
            idempotency_key=sent.get("idempotency_key"),
            is_counted=sent.get("is_counted", False),
            is_long=sent.get("is_long", False),
            is_brief=sent.get("is_brief", False),
            within=sent.get("within"),
            counted_before=request.pop(COUNTED, []) if operation.writes else (),
            session=browser.secret,
            asks_by_itself=browser.asks_by_itself,
            company=company_id,
            agent=request.headers.get("User-Agent", ""),
        )
        if "document" in sent:
            document = dict(sent["document"])

            async def load() -> Loaded:
                return Loaded(document, {})

            call.load_body = load
        reply = await self._dispatcher.dispatch(call)
        if call.counted is not None:
            request[COUNTED] = [*request.get(COUNTED, []), call.counted[0]]
        if wait := reply.headers.get("Retry-After"):
            request[RETRY_AFTER] = wait
        body = json.loads(reply.body, parse_float=Decimal) if reply.body else None
        return Answer(reply.status, body, reply.headers.get("ETag"))

    async def others(self, person: Person, company_id: int, most: int) -> list[Company]:
        """Return the companies that the person may use, sorted by name, without the company `company_id`.

        Return at most `most` companies.
        """
        browser = person.browser
        assert browser.secret is not None
        caller = await self._access.session_caller(browser.secret, browser.address, browser.asks_by_itself)
        return await self._access.others(caller, company_id, most)

    def count_open(self, browser: Browser) -> None:
        """Count a request that calls no operation. Raise Problem (429) if it is above the rate limit."""
        self._dispatcher.admission.count_visit("page", browser.address)

    async def count_visit(self, browser: Browser, kind: str) -> None:
        """Count a request for a public page. Raise Problem (429) if it is above the rate limit.

        If a person is signed in, the request counts for the session. Otherwise it counts for the address and
        `kind`.
        """
        admission = self._dispatcher.admission
        if browser.secret is None or not await admission.count_session(browser.secret, browser.address):
            admission.count_visit(kind, browser.address)

    async def find_person(self, request: web.Request, **sent: Unpack[Sent]) -> Person | None:
        """Return the signed-in person, or None if nobody is signed in. Use this for a page that does not require a
        sign-in.

        From then on, the page uses the person's language and time zone.
        """
        browser = self.browser(request)
        if browser.secret is None:
            return None
        found = await self.ask(browser, profile_actions.get_profile, **sent)
        if not found.is_good:
            return None
        return self._signed_in(browser, found.body)

    async def person(self, request: web.Request) -> Person:
        """Return the signed-in person. Call this for a page that requires a sign-in.

        Raise SignedOut if nobody is signed in. The browser is then sent to the sign-in page, and afterwards back
        to this page. Raise HTTPSeeOther if the person must first set up a second factor. Raise Problem (429) above
        the rate limit.
        """
        browser = self.browser(request)
        if browser.secret is not None:
            found = await self.ask(browser, profile_actions.get_profile)
            if found.status != 401:
                person = request[PERSON] = self._signed_in(browser, found.needed())
                if person.second_factor == "demanded" and request.path != SECOND_FACTOR:
                    raise web.HTTPSeeOther(SECOND_FACTOR)
                return person
        self.count_open(browser)
        if request.method in ("GET", "HEAD"):
            raise SignedOut(to_sign_in(request.path_qs))
        form = browsers.page_of_form(browser)
        raise SignedOut(f"{to_sign_in(form)}&{LOST}" if form else to_sign_in(HOME))

    def _signed_in(self, browser: Browser, profile: Mapping[str, Any]) -> Person:
        """Create the person from the profile. From now on, the page uses the person's language and time zone."""
        if profile["language"] in language.OFFERED:
            language.current.set(profile["language"])
        zone.use(time_zone_of(self.time_zone, profile["time_zone"]))
        is_admin = has_role(profile["role"], "platform-admin")
        return Person(browser, **profile, complete=browser.request.app[COMPLETE] if is_admin else NOTHING_ADDED)


def to_sign_in(next_path: str) -> str:
    """Return the address of the sign-in page. After signing in, people get to `next_path`."""
    return f"{SIGN_IN}?next={quote(next_path, safe='')}" if next_path else SIGN_IN
