"""The addresses of the pages."""

from functools import partial
from typing import Final

from wmsd.accounts import actions as accounts
from wmsd.app.discovery import get_health
from wmsd.app.installation import Installation
from wmsd.app.request_history import actions as request_history
from wmsd.base.problems import Problem
from wmsd.interfaces.http.server import Handler, add, add_open
from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages import assets
from wmsd.interfaces.pages.account import ACCOUNT, Account
from wmsd.interfaces.pages.acting import Acting
from wmsd.interfaces.pages.browsing import Browsing
from wmsd.interfaces.pages.deliveries import Deliveries
from wmsd.interfaces.pages.door import SIGN_IN, Door
from wmsd.interfaces.pages.rendering import page
from wmsd.interfaces.pages.requests import Requests
from wmsd.interfaces.pages.signing_in import HOME, SigningIn
from wmsd.interfaces.pages.today import Today

ASKED: Final = (
    accounts.begin_session,
    accounts.end_other_sessions,
    accounts.end_session,
    accounts.end_this_session,
    accounts.get_access,
    accounts.get_profile,
    accounts.list_companies,
    accounts.list_sessions,
    get_health,
    request_history.get_request,
    request_history.list_requests,
)
"""The operations that pages ask for. Some of them have no other way in."""
HEADINGS: Final = {
    403: "That is not allowed",
    404: "There is nothing here",
    413: "That is too much",
    408: "That took too long",
}
OTHER: Final = "That cannot be done"
A_COMPANY: Final = "/companies/{company:[0-9]{1,15}}"
A_RESOURCE: Final = f"{A_COMPANY}/{{resource:[a-z-]+}}"
REQUESTS: Final = f"{A_COMPANY}/requests"
DELIVERIES: Final = f"{A_COMPANY}/webhooks/{{id:[0-9]{{1,15}}}}/deliveries"
A_RECORD: Final = f"{A_RESOURCE}/{{id:[0-9]{{1,15}}}}"


def add_to(app: web.Application, installation: Installation) -> None:
    door = Door(installation)
    signing_in, account, today, browsing = SigningIn(door), Account(door), Today(door), Browsing(door)
    acting, deliveries, requests = Acting(door), Deliveries(door), Requests(door)
    for_all: tuple[tuple[str, str, Handler], ...] = (
        ("GET", "/pages/{name}", assets.serve),
        ("GET", SIGN_IN, signing_in.show),
        ("POST", SIGN_IN, signing_in.sign_in),
        ("POST", "/sign-out", signing_in.sign_out),
    )
    for_people: tuple[tuple[str, str, Handler], ...] = (
        ("GET", HOME, today.show),
        ("GET", ACCOUNT, account.show),
        ("POST", "/account/sessions", account.end),
        ("GET", A_COMPANY, browsing.company),
        ("GET", REQUESTS, requests.list),
        ("GET", f"{REQUESTS}/{{request_id:[0-9A-Za-z-]{{1,64}}}}", requests.one),
        ("GET", f"{A_RESOURCE}.csv", browsing.csv),
        ("GET", A_RESOURCE, browsing.list),
        ("GET", A_RECORD, browsing.record),
        ("GET", DELIVERIES, deliveries.list),
        ("POST", DELIVERIES, deliveries.again),
        ("GET", f"{A_RESOURCE}/{{act:new}}", acting.show),
        ("POST", f"{A_RESOURCE}/{{act:new}}", acting.do),
        ("GET", f"{A_RECORD}/{{act:[a-z-]+}}", acting.show),
        ("POST", f"{A_RECORD}/{{act:[a-z-]+}}", acting.do),
    )
    for method, path, handler in for_all:
        add_open(app, method, path, partial(_in_words, handler))
    for method, path, handler in for_people:
        add(app, method, path, partial(_in_words, handler))


async def _in_words(handler: Handler, request: web.Request) -> web.StreamResponse:
    """Shows a refusal as a page."""
    try:
        return await handler(request)
    except Problem as problem:
        shown = page(
            "refused", problem.status, heading=HEADINGS.get(problem.status, OTHER), message=problem.message
        )
        shown.headers.update(problem.headers)
        return shown
