"""The try-out of an operation: a form for its parameters and its body, and the answer."""

import asyncio
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.base.lazy_value import LazyValue
from wmsd.base.problems import or_not_found
from wmsd.base.strict_json import printable
from wmsd.dispatch import masking
from wmsd.dispatch.idempotency import HEADER as KEY
from wmsd.interfaces.http import requests
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.browser import FORM_TOKEN
from wmsd.interfaces.pages.kit.page_client import PageClient, Person
from wmsd.interfaces.pages.kit.rendering import render_page
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import CompanyWorkplace, company_at
from wmsd.interfaces.reference.operations import Described, Place, Reference, pretty
from wmsd.interfaces.reference.schema_rows import Row
from wmsd.interfaces.reference.try_out_call import COMPANY, Sender, Sent, Tried
from wmsd.request_history import curl
from wmsd.tenants.accounts.actions import list_companies

PART: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^\s"{}\[\],:]++')
INDENT: Final = "  "
MOST_COMPANIES: Final = 200
"""The most companies that the form lists. If there are more, the person types the company's id."""
MOST_SHOWN: Final = 32 * 1024
"""The most bytes of an answer that are displayed."""
LONGEST_TOKEN: Final = 8000
"""The most characters of a token."""
LONGEST_HEADER: Final = 300
LARGEST_BODY: Final = 64 * 1024
FORM_BOUNDS: Final = browsers.Bounds(4 * LARGEST_BODY, browsers.MOST_FIELDS)
"""The maximum size of the form in bytes, and the maximum number of its fields. A form is larger than the body in
it, because it encodes most special characters of JSON with three bytes.
"""
OWN_KEY: Final = "try-"
"""The prefix of the idempotency keys that the form creates."""
ONCE: Final = "form_key"
GRAPHQL: Final = "graphql"
"""The name that replaces the version for GraphQL, in `Place` and in addresses. GraphQL has no versions."""
Typed = dict[str, str]


def laid_out(text: str) -> str:
    """Return the JSON text with line breaks and indentation. `text` must be JSON that the service itself has
    created.
    """
    shown: list[str] = []
    depth, before = 0, ""
    for part in PART.findall(text):
        if part in "}]":
            depth -= 1
        if before and before in "{[" and part in "}]":  # an empty object or list
            pass
        elif (before and before in "{[,") or part in "}]":
            shown.append("\n" + INDENT * depth)
        shown.append(": " if part == ":" else part)
        if part in "{[":
            depth += 1
        before = part
    return "".join(shown)


@dataclass(frozen=True, slots=True)
class Input:
    """A field of the form, for a parameter of the operation. `where` is the part of the request that contains the
    parameter: path, query or header.
    """

    where: str
    row: Row

    @property
    def name(self) -> str:
        return f"{self.where}-{self.row.name}"


@dataclass(frozen=True, slots=True)
class Subject:
    """The operation that is tried, the person who tries it, and the company. `at` is the company, or None if no
    company is chosen.
    """

    person: Person
    described: Described
    place: Place
    at: CompanyWorkplace | None

    @property
    def inputs(self) -> list[Input]:
        described = self.described
        parts = (("path", described.path), ("query", described.query), ("header", described.headers))
        return [Input(where, row) for where, rows in parts for row in rows if row.name != COMPANY]

    @property
    def names_company(self) -> bool:
        return any(row.name == COMPANY for row in self.described.headers)

    @property
    def needs_token(self) -> bool:
        return self.described.operation.about_token

    @property
    def changes_data(self) -> bool:
        return self.place.route.method != "GET"

    @property
    def is_graphql(self) -> bool:
        return self.place.version == GRAPHQL

    @property
    def address(self) -> str:
        return (
            f"/try/{self.place.version}" if self.is_graphql else f"/try/{self.place.version}/{self.described.name}"
        )


class Trying:
    """The try-out of any REST operation. The subclass for GraphQL has other input fields."""

    template = "reference/try"

    def __init__(self, door: PageClient, reference: LazyValue[Reference], sender: Sender) -> None:
        self._door = door
        self._reference = reference
        self._sender = sender

    async def show(self, request: web.Request) -> web.Response:
        subject = await self._subject(request, request.query.get("company", ""))
        return await self._page(subject, self.first_typed(subject, request.query))

    async def do(self, request: web.Request) -> web.Response:
        browser = (await self._door.person(request)).browser
        typed = await browsers.form(browser, bounds=FORM_BOUNDS)
        token = typed.pop("token", "").strip()
        subject = await self._subject(request, typed.get("company", ""))
        errors = form_errors(subject, typed, token)
        body = self.body_of(subject, typed, errors)
        if errors:
            return await self._page(subject, typed, errors=errors, status=422)
        sent = self.sent_of(subject, typed, token, body)
        takes_key = KEY in sent.headers or not subject.changes_data
        key = None if takes_key else typed.get(ONCE)
        tried = await self._door.done_once(browser, key, partial(self._sender.send, browser, sent))
        return await self._page(subject, typed, sent=sent, tried=tried)

    async def described(self, request: web.Request) -> tuple[Described, Place]:
        """Return the operation that the address names, and the version and route at which it is served.

        Raise Problem (404) if the operation or the version does not exist.
        """
        reference = await self._reference.get()
        found = or_not_found(reference.by_name.get(request.match_info["operation"]), "operation")
        of_version = (place for place in found.places if place.version == request.match_info["version"])
        return found, or_not_found(next(of_version, None), "operation")

    def first_typed(self, subject: Subject, given: Mapping[str, str]) -> Typed:
        """Return the values with which the form starts. They come from the address, and from the example of a
        body.

        If the operation changes data, leave out ids, because the id in an example may belong to a real record.
        """
        inputs = [each for each in subject.inputs if not (subject.changes_data and each.where == "path")]
        typed = {each.name: given[each.row.name] for each in inputs if each.row.name in given}
        for each in subject.inputs:
            if each.row.name == KEY:
                typed[each.name] = new_key()
        if subject.described.sent is not None:
            example = subject.described.sent
            typed["body"] = pretty(without_ids(example) if subject.changes_data else example)
        return typed

    def body_of(self, subject: Subject, typed: Typed, errors: dict[str, str]) -> str | None:
        """Return the body of the request, or None if the operation has no body.

        If a typed value cannot be part of the body, add a message to `errors`.
        """
        if len(typed.get("body", "").encode()) > LARGEST_BODY:
            errors["body"] = _("is over %(size)s kB") % {"size": LARGEST_BODY // 1024}
        return typed.get("body", "").replace("\r\n", "\n") if subject.described.body else None

    def sent_of(self, subject: Subject, typed: Typed, token: str, body: str | None) -> Sent:
        """Return the request to send. Leave out empty fields.

        The request has the token only if the user has chosen to send it, or if the operation needs a token.
        """
        parts: dict[str, dict[str, str]] = {"path": {}, "query": {}, "header": {}}
        for each in subject.inputs:
            value = typed.get(each.name, "").strip()
            if value:
                parts[each.where][each.row.name] = value
        if subject.at is not None and subject.names_company:
            parts["header"][COMPANY] = subject.at.id
        is_as_token = typed.get("as") == "token" or subject.needs_token
        bearer = requests.bearer(token if token.lower().startswith("bearer ") else f"Bearer {token}")
        path, query, headers = parts["path"], parts["query"], parts["header"]
        return Sent(subject.place.route, path, query, headers, body, bearer if is_as_token else None)

    def once(self) -> dict[str, str]:
        """Return a hidden field with a new key. If the same form is sent again, it does not run again."""
        return {ONCE: secrets.token_urlsafe(16)}

    async def _subject(self, request: web.Request, company_id: str) -> Subject:
        """Return the operation, the person and the company of the try-out.

        Raise HTTPSeeOther if nobody is signed in. Raise Problem (404) if the operation or the company does not
        exist.
        """
        person = await self._door.person(request)
        described, place = await self.described(request)
        at = await company_at(self._door, person, company_id) if company_id else None
        subject = Subject(person, described, place, at)
        if at is None and subject.names_company and len(found := await self._companies_of(person)) == 1:
            return replace(subject, at=await company_at(self._door, person, str(found[0]["id"])))
        return subject

    async def _companies_of(self, person: Person) -> Sequence[Mapping[str, Any]]:
        answer = await self._door.ask(person.browser, list_companies, is_counted=True)
        return list(answer.needed()["data"])

    async def _page(
        self,
        subject: Subject,
        typed: Typed,
        *,
        status: int = 200,
        errors: Mapping[str, str] = {},
        sent: Sent | None = None,
        tried: Tried | None = None,
    ) -> web.Response:
        companies = await self._companies_of(subject.person)

        def make() -> web.Response:
            return render_page(
                self.template,
                status,
                person=subject.person,
                **({} if subject.at is None else {"at": subject.at}),
                company=subject.at,
                current="api",
                subject=subject,
                declared=subject.described.operation,
                companies=companies if len(companies) <= MOST_COMPANIES else None,
                typed=typed if tried is None else form_after(typed, tried),
                errors=errors,
                focus=next(iter(errors), ""),
                hidden={**self.once(), FORM_TOKEN: subject.person.browser.form_token},
                largest=LARGEST_BODY // 1024,
                tried=tried,
                **result_of(subject, sent, tried),
            )

        # on a thread, because the request and the answer can be long
        return make() if tried is None else await asyncio.to_thread(make)


def without_ids(example: Any) -> Any:
    """Return the example of a body, with null for each id of a record."""
    if isinstance(example, list):
        return [without_ids(each) for each in example]
    if not isinstance(example, dict):
        return example
    return {name: None if _is_id(name, value) else without_ids(value) for name, value in example.items()}


def _is_id(name: str, value: object) -> bool:
    return isinstance(value, int) and (name == "id" or name.endswith("_id"))


def new_key() -> str:
    return f"{OWN_KEY}{secrets.token_urlsafe(12)}"


def form_errors(subject: Subject, typed: Typed, token: str) -> dict[str, str]:
    """Return the errors of values that a request cannot contain, by the name of the field."""
    errors: dict[str, str] = {}
    too_long = _("must be one line of at most %(number)s characters") % {"number": LONGEST_HEADER}
    if (typed.get("as") == "token" or subject.needs_token) and not token:
        errors["token"] = _("is required")
    if len(token) > LONGEST_TOKEN or not token.isprintable():
        errors["token"] = _("is not a token")
    for each in subject.inputs:
        value = typed.get(each.name, "").strip()
        if each.where == "path" and not value:
            errors[each.name] = _("is required")
        if each.where == "header" and (len(value) > LONGEST_HEADER or not value.isprintable()):
            errors[each.name] = too_long
    return errors


def form_after(typed: Typed, tried: Tried) -> Typed:
    """Return the values that the form shows after a request.

    Secrets are masked, so the user must type them again. After a successful request, a new idempotency key
    replaces the key that the form had created.
    """
    kept = {**typed, "body": _masked(typed.get("body", ""), is_graphql=False)}
    name = f"header-{KEY}"
    if tried.status < 400 and kept.get(name, "").startswith(OWN_KEY):
        kept[name] = new_key()
    return kept


def result_of(subject: Subject, sent: Sent | None, tried: Tried | None) -> dict[str, Any]:
    """Return the values that the template shows after a request.

    They are the answer, the curl command that repeats the request, and the address of the request in the history.
    """
    if sent is None or tried is None:
        return {"answer": "", "is_cut": False, "line": "", "kept_at": ""}
    body = "" if sent.body is None else _masked(sent.body, subject.is_graphql)
    asked = {
        "method": sent.route.method,
        "path": sent.target_with_query,
        "headers": sent.all_headers,
        "body": body or None,
        "body_bytes": len(body.encode()),
    }
    kept_at = "" if tried.kept_for is None else f"/companies/{tried.kept_for}/requests/{tried.request_id}"
    return {
        "answer": _answer(tried),
        "is_cut": len(tried.body) > MOST_SHOWN,
        "line": curl.line(asked, subject.person.browser.origin),
        "kept_at": kept_at,
    }


def _masked(body: str, is_graphql: bool) -> str:
    """Return the body of a REST request with masked secrets. Return the body of a GraphQL request unchanged."""
    return body if is_graphql else masking.body(printable(body), is_graphql=False)


def _answer(tried: Tried) -> str:
    """Return the answer as text with line breaks and indentation. If it is too long, return its unchanged
    beginning.
    """
    text = tried.body[:MOST_SHOWN].decode("utf-8", "ignore")
    return text if len(tried.body) > MOST_SHOWN else laid_out(text)
