"""The first use of an installation: the links for the first admin and for the demo, and the page First steps."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from wmsd.contract.access import SETS
from wmsd.contract.operation import Operation
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.admin.recovery_phrase import lost_without
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.browser import FORM_TOKEN, Browser
from wmsd.interfaces.pages.kit.page_client import PageClient, Person
from wmsd.interfaces.pages.kit.rendering import go_to, render_page
from wmsd.interfaces.pages.people.sign_in import STAY, session_seconds
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.platform.admin_view.recovery_phrase import get_recovery_phrase
from wmsd.server.alerts.mail_confirmation import state_of
from wmsd.tenants.accounts.password_strength import SHORTEST
from wmsd.tenants.accounts.user_lists import TOKENS
from wmsd.tenants.companies import company_administration
from wmsd.tenants.one_time_links import actions as links
from wmsd.tenants.one_time_links import demo
from wmsd.warehouse.articles import actions as articles
from wmsd.warehouse.directory import actions as directory

START: Final = "/start"
FIELDS: Final = (
    ("name", "Your name", "text", "name"),
    ("email", "E-mail address", "text", "username"),
    ("password", "Password, at least %(shortest)s characters", "password", "new-password"),
    ("again", "The password again", "password", "new-password"),
)
"""The name, the label, the type and the autocomplete value of each field."""


async def show_first_admin(door: PageClient, request: web.Request) -> web.Response:
    code = request.query.get("code", "")
    if not await _is_open(door, request, links.look_for_first_admin, code):
        return await _spent_first_admin(door, request)
    return _form(code, {}, {})


async def make_first_admin(door: PageClient, request: web.Request) -> web.Response:
    browser = door.browser(request)
    if not await _is_wanted(door, browser, is_counted=False):
        return _spent()  # without reading the rest of the form
    sent = await browsers.form(browser, with_token=False)
    document = {"code": sent.get("code", "")}
    for name, _, kind, _ in FIELDS:
        document[name] = sent.get(name, "") if kind == "password" else sent.get(name, "").strip()
    answer = await door.ask(browser, links.make_first_admin, document=document)
    if answer.status == 404:
        return await _spent_first_admin(door, request)
    if answer.status == 422:
        return _form(document["code"], document, answer.body)
    return browsers.give(go_to(START), browser, answer.needed()["secret"])


async def show_demo(door: PageClient, request: web.Request) -> web.Response:
    code = request.query.get("code", "")
    answer = await door.ask(door.browser(request), demo.look_for_demo, query={"code": code})
    if answer.status in (404, 422):
        return _spent(is_demo=True)
    return render_page("demo", code=code, people=answer.needed()["data"], sets=SETS)


async def open_demo(door: PageClient, request: web.Request) -> web.Response:
    browser, sent = await door.sent_form(request)
    document = {"code": sent.get("code", ""), "email": sent.get("email")}
    answer = await door.ask(browser, demo.open_demo, document=document)
    if answer.status in (404, 422):
        return _spent(is_demo=True)
    return browsers.give(go_to("/today"), browser, answer.needed()["secret"], session_seconds(door, STAY in sent))


async def _spent_first_admin(door: PageClient, request: web.Request) -> web.Response:
    return _spent(lacks_admin=await _is_wanted(door, door.browser(request)))


async def _is_wanted(door: PageClient, browser: Browser, is_counted: bool = True) -> bool:
    answer = await door.ask(browser, links.is_first_admin_wanted, is_counted=is_counted)
    return bool(answer.needed()["wanted"])


async def _is_open(door: PageClient, request: web.Request, operation: Operation, code: str) -> bool:
    answer = await door.ask(door.browser(request), operation, query={"code": code})
    return answer.status not in (404, 422) and bool(answer.needed())


async def show_steps(installation: Installation, door: PageClient, request: web.Request) -> web.Response:
    return await _steps(installation, door, await door.person(request))


async def name(installation: Installation, door: PageClient, request: web.Request) -> web.Response:
    """Set the name of the installation."""
    person = await door.person(request)
    sent = await browsers.form(person.browser)
    document = {"name": sent.get("name", "").strip()}
    answer = await door.ask(person.browser, company_administration.name_installation, document=document)
    if answer.status == 422:
        return await _steps(installation, door, person, 422, document["name"], answer.body["errors"])
    answer.needed()
    return go_to(START)


async def _steps(
    installation: Installation,
    door: PageClient,
    person: Person,
    status: int = 200,
    typed: str | None = None,
    errors: Mapping[str, list[str]] = {},
) -> web.Response:
    browser, one, alerts = person.browser, {"per_page": "1"}, installation.settings.alerts
    made = (await door.ask(browser, company_administration.COMPANIES.by_page, query=one)).needed()
    company = made["data"][0] if made["data"] else None
    warehouse = article = None
    if company is not None:
        warehouse = await _first(door, browser, directory.list_warehouses, company["id"])
        article = await _first(door, browser, articles.list_articles, company["id"])
    own = {**one, "user": person.email, "active": "true"}
    has_token = (await door.ask(browser, TOKENS.by_page, query=own)).needed()["data"]
    keys = (await door.ask(browser, get_recovery_phrase)).needed()
    return render_page(
        "start",
        status,
        person=person,
        current="start",
        form_token={FORM_TOKEN: browser.form_token},
        name=person.installation if typed is None else typed,
        errors=errors,
        company=company,
        warehouse=warehouse,
        article=article,
        token=next(iter(has_token), None),
        mail=await asyncio.to_thread(lambda: state_of(installation.folder.path.resolve(), alerts)),
        has_tls=browser.has_tls,
        backups=await asyncio.to_thread(lambda: _place_of_backups(installation)),
        is_told_otherwise=bool(alerts.url or alerts.command),
        keys=keys,
        lost=lost_without(keys),
    )


async def _first(door: PageClient, browser: Browser, listing: Operation, company_id: int) -> Any:
    """Return the first record of the list that `listing` returns. Return None if the list is empty or the person
    may not read it.
    """
    listed = await door.ask(browser, listing, str(company_id), query={"per_page": "1"})
    return next(iter(listed.body["data"]), None) if listed.is_good else None


def _place_of_backups(installation: Installation) -> Mapping[str, object]:
    folder = BackupFolder(Path(installation.settings.backup.folder))
    on_disk_of_data = folder.is_on_disk_of(installation.folder.path)
    return {"folder": str(folder.path.absolute()), "is_on_another_disk": not on_disk_of_data}


def _form(code: str, typed: Mapping[str, str], refused: Mapping[str, Any]) -> web.Response:
    return render_page(
        "first_admin",
        422 if refused else 200,
        code=code,
        typed=typed,
        fields=FIELDS,
        shortest=SHORTEST,
        errors=refused.get("errors", {}),
        message=refused.get("message", ""),
    )


def _spent(is_demo: bool = False, lacks_admin: bool = False) -> web.Response:
    return render_page("spent", 404, why="", is_demo=is_demo, lacks_admin=lacks_admin)
