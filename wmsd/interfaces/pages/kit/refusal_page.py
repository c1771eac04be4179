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
    403: "Not allowed",
    404: "Page not found",
    405: "Not possible here",
    413: "Too much data",
    408: "The request took too long",
    429: "Too many requests",
    500: failure_page.HEADING,
    503: "Not possible now",
}
OTHER: Final = "Not possible"
NEXT: Final = {
    403: "Ask a platform admin for the right or the module: say what you wanted to do, and what this page says.",
    404: "The address may be wrong or old, or the record may have been deleted.",
    405: "Go back to the previous page, and use its button.",
    413: "Send less data in one request. No data was saved.",
    408: "No data was saved. Check your connection, and send the request again.",
    429: "No action was taken. Wait, then load the page again.",
    500: failure_page.NEXT,
    503: failure_page.REQUEST,
    507: failure_page.REQUEST,
}
MODULES: Final = "Switch the modules of a company on and off on its page, under Administration."
AFTER_FORM: Final = "Your request may or may not have been carried out. Check before you send the form again."
ANOTHER_SESSION: Final = "You have signed in again since you opened this form. Open the form again, and send it."
ANOTHER_ORIGIN: Final = (
    "Open the page again, and send the form from there. If the form is refused again, a browser "
    "extension or a proxy hides where forms come from: tell a platform admin."
)
COOKIES: Final = "Your browser sends too many cookies"
COOKIES_OF_THE_HOST: Final = (
    "Your browser sends the cookies of all programs on this host to wmsd, and together they are too "
    "large. Delete the cookies of this host in the browser settings, and load the page again. If "
    "this happens again, tell a platform admin that each program on this host needs its own name."
)
ONE_ORIGIN: Final = (
    "wmsd accepts forms only from %(origin)s (server.public_url). Open wmsd there, and send the form again."
)
BEHIND_PROXY: Final = (
    "Your browser opened %(origin)s, but the form arrived as if sent to another address. If "
    '%(origin)s is the right address of wmsd, a platform admin must set server.public_url = "%(origin)s", '
    "or configure the proxy to pass on host, port and scheme."
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
    """Return the company if one of its modules is off and the person can switch it on. Otherwise return None.

    This person must be a platform admin. A platform admin has all rights. So the status 403 means that a module is
    off, unless the form itself was refused.
    """
    if problem.status != 403 or isinstance(problem, FormOfAnotherOrigin | FormOfAnotherSession):
        return None
    may_open = person is not None and person.role == "platform-admin"
    return at if may_open and isinstance(at, CompanyWorkplace) else None


async def failed(door: PageClient, request: web.Request, problem: Problem) -> web.Response:
    """Return the page of a failure.

    If this page cannot be created either, return a simple page that is built without templates and translations.
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
    """Yield links to pages on which the person can continue. The link that leads closest to the refused page is
    first.
    """
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
