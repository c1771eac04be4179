"""The addresses of the pages."""

from functools import partial
from typing import Final

from wmsd.accounts import actions as accounts
from wmsd.accounts import second_step
from wmsd.app.discovery import get_health
from wmsd.app.installation import Installation
from wmsd.base.problems import Problem
from wmsd.interfaces.http.server import Handler, add, add_open
from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages import assets
from wmsd.interfaces.pages.account import ACCOUNT, Account
from wmsd.interfaces.pages.acting import Acting
from wmsd.interfaces.pages.browsing import Browsing
from wmsd.interfaces.pages.deliveries import Deliveries
from wmsd.interfaces.pages.door import SECOND_FACTOR, SIGN_IN, Door
from wmsd.interfaces.pages.rendering import page
from wmsd.interfaces.pages.second_factor import SecondFactor
from wmsd.interfaces.pages.signing_in import HOME, SigningIn
from wmsd.interfaces.pages.signing_on import BACK, TO_PROVIDER, SigningOn
from wmsd.interfaces.pages.today import Today
from wmsd.interfaces.pages.trying import TRY, Trying
from wmsd.sign_on import actions as sign_on
from wmsd.sign_on.trying import try_sign_on

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
    second_step.begin_enrolment,
    second_step.confirm_enrolment,
    second_step.end_second_factor,
    second_step.finish_session,
    sign_on.begin_sign_on,
    sign_on.finish_sign_on,
    sign_on.list_providers,
    try_sign_on,
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
DELIVERIES: Final = f"{A_COMPANY}/webhooks/{{id:[0-9]{{1,15}}}}/deliveries"
A_RECORD: Final = f"{A_RESOURCE}/{{id:[0-9]{{1,15}}}}"


def add_to(app: web.Application, installation: Installation) -> None:
    door = Door(installation)
    signing_in, account, today, browsing = SigningIn(door), Account(door), Today(door), Browsing(door)
    acting, deliveries = Acting(door), Deliveries(door)
    signing_on, trying, second_factor = SigningOn(door), Trying(door), SecondFactor(door)
    for_all: tuple[tuple[str, str, Handler], ...] = (
        ("GET", "/pages/{name}", assets.serve),
        ("GET", SIGN_IN, signing_in.show),
        ("POST", SIGN_IN, signing_in.sign_in),
        ("POST", "/second-step", signing_in.second_step),
        ("POST", "/sign-out", signing_in.sign_out),
    )
    for_people: tuple[tuple[str, str, Handler], ...] = (
        ("GET", TO_PROVIDER, signing_on.begin),
        ("GET", BACK, signing_on.end),
        ("GET", TRY, trying.show),
        ("POST", TRY, trying.do),
        ("GET", HOME, today.show),
        ("GET", ACCOUNT, account.show),
        ("POST", "/account/sessions", account.end),
        ("GET", SECOND_FACTOR, second_factor.show),
        ("POST", SECOND_FACTOR, second_factor.do),
        ("GET", A_COMPANY, browsing.company),
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
