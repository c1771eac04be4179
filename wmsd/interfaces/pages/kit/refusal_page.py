"""The page of a refusal or failure: what happened, why, and where to continue.

A signed-in person sees the page with the usual menu.
"""

from collections.abc import Iterator
from typing import Final

from wmsd.base.problems import Problem
from wmsd.interfaces.http import failure_page
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.form_origin import FormOfAnotherOrigin
from wmsd.interfaces.http.request_log import REQUEST_ID
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.browser import FormOfAnotherSession
from wmsd.interfaces.pages.kit.page_client import HOME, PERSON, SIGN_IN, PageClient, Person
from wmsd.interfaces.pages.kit.rendering import render_page
from wmsd.interfaces.pages.kit.text import language
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import AT, CompanyWorkplace, Workplace

HEADINGS: Final = {
    403: "That is not allowed",
    404: "There is nothing here",
    405: "That cannot be done here",
    413: "That is too much",
    408: "That took too long",
    429: "Too many requests at once",
    500: failure_page.HEADING,
    503: "That cannot be done now",
}
OTHER: Final = "That cannot be done"
NEXT: Final = {
    403: "Rights and modules are given by a site admin: say what you wanted to do, and what this page says.",
    404: "The address may be mistyped or old, or what was here may be deleted.",
    405: "Open the page that leads here, and use its button.",
    413: "Send less at once. Nothing of it was taken.",
    408: "Nothing of it was taken. See whether the connection is good, and send it again.",
    429: "Nothing was done. Wait so long, and load the page again.",
    500: failure_page.NEXT,
    503: failure_page.REQUEST,
    507: failure_page.REQUEST,
}
MODULES: Final = "The modules of a company are switched on and off at its page under House."
AFTER_FORM: Final = "What you sent may have been done, or not: look for it before you send it again."
ANOTHER_SESSION: Final = "You have signed in again since. Open the form anew, and send it from there."
ANOTHER_ORIGIN: Final = (
    "Open the page anew, and send the form from there. If that is refused too, an add-on of the browser, or what "
    "stands between it and wmsd, hides where forms come from: tell a site admin."
)
COOKIES: Final = "Your browser sends too many cookies"
COOKIES_OF_THE_HOST: Final = (
    "A browser sends the cookies of all programs of a host to each of them, and together they are too large for "
    "wmsd. Delete the cookies of this host in the settings of the browser, and load the page again. If it happens "
    "again, tell a site admin that the programs of this host need names of their own."
)
ONE_ORIGIN: Final = (
    "Forms are accepted from %(origin)s only (server.public_url). Open wmsd there, and send the form again."
)
BEHIND_PROXY: Final = (
    "Your browser has opened %(origin)s, and the form came as if to another address. If that is the address of "
    'wmsd, a site admin sets server.public_url = "%(origin)s", or has the proxy pass on host, port and scheme.'
)
GUIDE: Final = "/docs"
PROXIES: Final = "/docs/reverse-proxies"
Link = tuple[str, str]
"""An address, and its text in the language of the page."""


async def refusal_page(door: PageClient, request: web.Request, problem: Problem) -> web.Response:
    person = request.get(PERSON)
    if person is None and problem.status != 429:  # above the rate limit, no operation is called
        person = await door.find_person(request, is_counted=True)
    at = request.get(AT)
    is_of_another = isinstance(problem, FormOfAnotherSession)
    form = "" if request.method in ("GET", "HEAD") else browsers.page_of_form(door.browser(request))
    is_failure = problem.status >= 500
    closed = _closed(problem, person, at)
    answer = render_page(
        "refused" if person is None else "refused_here",
        problem.status,
        heading=_(HEADINGS.get(problem.status, OTHER)),
        message="" if problem.status == 500 else problem.message,
        what_next=_next_of(problem, closed),
        after_form=_(AFTER_FORM) if form and problem.code == "SERVER_ERROR" else "",
        request_id=request[REQUEST_ID] if is_failure else "",
        lost=form if is_of_another or is_failure else "",
        links=list(_links(request, person, at, closed, form, problem)),
        person=person,
        current="",
        **({} if at is None else {"at": at}),
    )
    answer.headers.update(problem.headers)
    return answer


def _next_of(problem: Problem, closed: CompanyWorkplace | None) -> str:
    match problem:
        case FormOfAnotherSession():
            return _(ANOTHER_SESSION)
        case FormOfAnotherOrigin(own="", sent=""):
            return _(ANOTHER_ORIGIN)
        case FormOfAnotherOrigin(own=own, sent=sent):
            return _(ONE_ORIGIN if own else BEHIND_PROXY) % {"origin": own or sent}
    return _(NEXT.get(problem.status, "") if closed is None else MODULES)


def _closed(problem: Problem, person: Person | None, at: Workplace | None) -> CompanyWorkplace | None:
    """Return the company that refuses a platform admin, or None for any other refusal or user.

    A platform admin has all rights, so a module of this company is off. The admin can switch the module on.
    """
    if problem.status != 403 or isinstance(problem, FormOfAnotherOrigin | FormOfAnotherSession):
        return None
    may_open = person is not None and person.role == "platform-admin"
    return at if may_open and isinstance(at, CompanyWorkplace) else None


async def failed(door: PageClient, request: web.Request, problem: Problem) -> web.Response:
    """Return the page of a failure.

    If creating this page fails for the same reason, return a page that needs no template and no catalogue.
    """
    try:
        return await refusal_page(door, request, problem)
    except Exception:  # the first failure is in the log
        return failure_page.made(problem, request[REQUEST_ID], language.current.get(), _translated_or_not)


def page_of_large_head(languages: str, request_id: str) -> web.Response:
    """Return the page for a browser whose request head is too large and was not read.

    `languages` is the header Accept-Language of the request.
    """
    language.current.set(language.of_browser(languages))
    problem = Problem("VALIDATION_FAILED", COOKIES_OF_THE_HOST, status=431)
    return failure_page.made(problem, request_id, language.current.get(), _translated_or_not, heading=COOKIES)


def _translated_or_not(text: str) -> str:
    try:
        return language.translate_error(_(text))
    except Exception:  # the failure may be in the catalogue
        return text


def _links(
    request: web.Request,
    person: Person | None,
    at: Workplace | None,
    closed: CompanyWorkplace | None,
    form: str,
    problem: Problem,
) -> Iterator[Link]:
    """Yield links to pages where the person can continue, the closest page first."""
    if isinstance(problem, FormOfAnotherOrigin):
        if problem.own:
            yield problem.own, problem.own
        elif problem.sent:
            yield PROXIES, _("Behind a proxy")
    if form:
        yield form, _("Back to the form")
    if person is None:
        yield SIGN_IN, _("Sign in")
        yield GUIDE, _("The guide")
        return
    if closed is not None:
        yield f"/admin/companies/{closed.id}", _("The company and its modules")
    if at is not None:
        for resource in at.resources:
            if resource.name == request.match_info.get("resource"):
                yield f"{at.address}/{resource.name}", _(resource.title)
    yield HOME, _("To the first page")
