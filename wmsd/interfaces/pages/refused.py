"""The page of a refusal: what happened, why, and where to go on, in the frame of whoever is signed in."""

from collections.abc import Iterator
from typing import Final

from wmsd.base.problems import Problem
from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages import browser as browsers
from wmsd.interfaces.pages.browser import FormOfAnotherSession
from wmsd.interfaces.pages.door import HOME, PERSON, SIGN_IN, Door, Person
from wmsd.interfaces.pages.language import translated as _
from wmsd.interfaces.pages.rendering import page
from wmsd.interfaces.pages.workplace import AT, Workplace

HEADINGS: Final = {
    403: "That is not allowed",
    404: "There is nothing here",
    405: "That cannot be done here",
    413: "That is too much",
    408: "That took too long",
    429: "Too many requests at once",
}
OTHER: Final = "That cannot be done"
NEXT: Final = {
    403: "Rights and modules are given by a site admin: say what you wanted to do, and what this page says.",
    404: "The address may be mistyped or old, or what was here may be deleted.",
    405: "Open the page that leads here, and use its button.",
    413: "Send less at once. Nothing of it was taken.",
    408: "Nothing of it was taken. See whether the connection is good, and send it again.",
    429: "Nothing was done. Wait so long, and load the page again.",
}
ANOTHER_SESSION: Final = "You have signed in again since. Open the form anew, and send it from there."
GUIDE: Final = "/docs"
Link = tuple[str, str]
"""An address, and its text in the language of the page."""


async def shown(door: Door, request: web.Request, problem: Problem) -> web.Response:
    person = request.get(PERSON)
    if person is None and problem.status != 429:  # then nobody is asked
        person = await door.find_person(request)
    at = request.get(AT)
    is_of_another = isinstance(problem, FormOfAnotherSession)
    form = "" if request.method in ("GET", "HEAD") else browsers.page_of_form(door.browser(request))
    answer = page(
        "refused" if person is None else "refused_here",
        problem.status,
        heading=_(HEADINGS.get(problem.status, OTHER)),
        message=problem.message,
        what_next=_(ANOTHER_SESSION if is_of_another else NEXT.get(problem.status, "")),
        lost=form if is_of_another else "",
        links=list(_links(request, person, at, form)),
        person=person,
        current="",
        **({} if at is None else {"at": at}),
    )
    answer.headers.update(problem.headers)
    return answer


def _links(request: web.Request, person: Person | None, at: Workplace | None, form: str) -> Iterator[Link]:
    """Where to go on, the nearest first."""
    if form:
        yield form, _("Back to the form")
    if person is None:
        yield SIGN_IN, _("Sign in")
        yield GUIDE, _("The guide")
        return
    if at is not None:
        for resource in at.resources:
            if resource.name == request.match_info.get("resource"):
                yield f"{at.address}/{resource.name}", _(resource.title)
    yield HOME, _("To the first page")
