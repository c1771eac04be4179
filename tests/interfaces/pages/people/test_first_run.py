"""A new installation: the one-time links, and the first steps."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.interfaces.pages.administering import audit, shown_once
from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.records.test_browse import EMAIL, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.world import PASSWORD, World, open_world
from wmsd.contract.access import expand
from wmsd.installation import demo
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.server.alerts import mail_confirmation
from wmsd.tenants.accounts import store as accounts
from wmsd.tenants.one_time_links import actions as links
from wmsd.tenants.one_time_links import demo as demo_links

FORM = {"name": "Ana", "email": "ana@example.com", "password": "a long password", "again": "a long password"}


@pytest.fixture
async def fresh(tmp_path: Path) -> AsyncIterator[World]:
    """Open an installation that has no admin yet. Its backups are on the disk of its data."""
    async with open_world(tmp_path / "data", {"backup": {"folder": str(tmp_path / "backups")}}) as world:
        await world.installation.platform.write(lambda tx: tx.execute("UPDATE users SET disabled_at = 'x'"))
        yield world


async def offer(world: World) -> str:
    code = await world.installation.platform.write(links.offer_first_admin)
    assert code is not None
    return code


async def became_admin(visitor: Visitor, code: str, **changes: str) -> Seen:
    return await visitor.post("/first-admin", {**FORM, "code": code, **changes})


async def status_of(world: World, code: str, **changes: str) -> int:
    return (await became_admin(Visitor(world), code, **changes)).status


def steps_done(seen: Seen) -> list[str]:
    """Return the titles of the finished steps."""
    assert seen.status == 200, seen.text
    return re.findall(r">done</span><h2>(.*?)</h2>", seen.text)


async def test_the_link_makes_the_first_admin_once_and_signs_in(fresh: World) -> None:
    code, visitor = await offer(fresh), Visitor(fresh)
    for _ in range(2):  # opening the page does not use up the link
        assert (await visitor.get(f"/first-admin?code={code}")).heading == "The first admin"
    done = await became_admin(visitor, code)
    assert (done.status, done.goes_to) == (303, "/start")
    assert (await visitor.get("/start")).heading == "First steps"
    assert await status_of(fresh, code) == 404
    assert (await Visitor(fresh).get(f"/first-admin?code={code}")).heading == "This link no longer works"
    body = {"email": "ana@example.com", "password": FORM["password"], "abilities": ["*"]}
    await fresh.call("POST", "/api/auth/token", body, token="", company="")
    assert await fresh.installation.platform.write(links.offer_first_admin) is None


async def test_the_audit_names_the_first_admin_by_the_address_as_it_is_stored(fresh: World) -> None:
    visitor = Visitor(fresh)
    assert (await became_admin(visitor, await offer(fresh), email="Ana@Example.COM")).status == 303
    made = [cells for cells in await audit(visitor) if cells[1] == "user.create platform-admin"]
    assert (made[0][0], made[0][2]) == ("ana@example.com", "ana@example.com")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"password": "short", "again": "short"}, "must have from 10 to 1024 characters"),
        ({"password": "1234567890", "again": "1234567890"}, "is too easy to guess"),
        ({"password": "ana@example.com", "again": "ana@example.com"}, "is too easy to guess"),
        ({"again": "another password"}, "does not match the password"),
        ({"email": "ana"}, "must be an e-mail address"),
        ({"name": ""}, "must have at least 1 character"),
        ({"email": "admin@example.com"}, "is taken by another user"),
        ({"name": "<script>alert(1)</script>", "email": "x"}, "&lt;script&gt;"),
    ],
)
async def test_bad_input_shows_the_form_again_with_its_errors(
    fresh: World, changes: dict[str, str], says: str
) -> None:
    code = await offer(fresh)
    seen = await became_admin(Visitor(fresh), code, **changes)
    assert (seen.status, says in seen.text) == (422, True), seen.text
    assert "<script>" not in seen.text
    assert FORM["password"] not in seen.text
    assert not await fresh.installation.platform.read(accounts.has_admin)
    assert await status_of(fresh, code) == 303


async def test_a_wrong_or_old_link_does_nothing(fresh: World) -> None:
    code = await offer(fresh)
    for path in ("/first-admin", "/first-admin?code=guess", "/first-admin?code=%00", "/demo", "/demo?code=guess"):
        assert (await Visitor(fresh).get(path)).status == 404, path
    assert await status_of(fresh, "guess") == 404
    fresh.clock.advance(86_400)
    assert await status_of(fresh, code) == 404
    newer, newest = await offer(fresh), await offer(fresh)
    assert await status_of(fresh, newer) == 404
    assert await status_of(fresh, newest) == 303


async def test_who_comes_before_there_is_an_admin_reads_what_to_do(fresh: World) -> None:
    await offer(fresh)
    command = "<code>wmsd user first-admin-link</code>"
    for path in ("/sign-in", "/first-admin", "/first-admin?code=guess"):
        seen = await Visitor(fresh).get(path)
        assert ("has no admin yet" in seen.text, command in seen.text) == (True, True), path
        assert "ask a platform admin" not in seen.text
        assert str(fresh.installation.folder.path) not in seen.text
    refused = await Visitor(fresh).sign_in("nobody@example.com", PASSWORD)
    assert (refused.status, command in refused.text) == (401, True)
    told = await Visitor(fresh).get("/sign-in", {"Accept-Language": "ro"})
    assert "nu are încă niciun administrator" in told.text
    assert command not in (await Visitor(fresh).get("/demo")).text
    assert await status_of(fresh, await offer(fresh)) == 303
    for path in ("/sign-in", "/first-admin", "/first-admin?code=guess"):
        seen = await Visitor(fresh).get(path)
        assert ("has no admin yet" in seen.text, "first-admin-link" in seen.text) == (False, False), path
    assert "ask a platform admin" in (await Visitor(fresh).get("/sign-in")).text


async def test_no_other_site_sends_the_form(fresh: World) -> None:
    code = await offer(fresh)
    refused = await Visitor(fresh).post("/first-admin", {**FORM, "code": code}, site="cross-site")
    assert refused.status == 403
    assert not await fresh.installation.platform.read(accounts.has_admin)


async def test_a_form_is_not_read_when_nobody_waits_for_it(world: World) -> None:
    """If there is an admin, there is no form: the server does not even read the rest of the body."""
    connection = await world.caller.connect()
    await connection.send(b"POST /first-admin HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
    assert await connection.begin_to_read() == 404
    await connection.close()


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"code=" + b"x" * 70_000, "application/x-www-form-urlencoded", 413),
        (b"--x--\r\n", "multipart/form-data; boundary=x", 415),
        (b"{}", "application/json", 415),
        (b"code=%ff", "application/x-www-form-urlencoded", 400),
        (b"&".join(b"a%d=1" % place for place in range(300)), "application/x-www-form-urlencoded", 400),
        (b"\xff=1", "application/x-www-form-urlencoded", 400),
    ],
)
async def test_a_form_that_no_browser_sends_is_refused(fresh: World, body: bytes, kind: str, status: int) -> None:
    await offer(fresh)
    headers = {"Content-Type": kind, "Sec-Fetch-Site": "same-origin"}
    assert (await fresh.send("POST", "/first-admin", raw=body, headers=headers)).status == status


async def test_the_steps_lead_to_a_program_with_a_token(fresh: World) -> None:
    await fresh.installation.platform.write(lambda tx: tx.execute("UPDATE companies SET code = 'ELSEWHERE'"))
    visitor = Visitor(fresh)
    await became_admin(visitor, await offer(fresh))
    first = await visitor.get("/start")
    assert steps_done(first) == ["Create the first company"], "the tests' world has one"
    named = await visitor.post("/start", {"form_token": first.form_token, "name": "Hub Cluj"})
    assert (named.status, named.goes_to) == (303, "/start")
    assert '<div class="name">Hub Cluj</div>' in (await visitor.get("/today")).text
    steps = (await visitor.get("/start")).text
    assert 'href="/companies/1/imports/new?kind=articles"' in steps, "a list needs no command line"
    assert (await sent(visitor, "/companies/1/articles/new", code="A1", name="First")).status == 303
    made = shown_once(await sent(visitor, "/admin/tokens/new", **{"name": "Shop", "abilities:*": "on"}))
    seen = await visitor.get("/start")
    assert steps_done(seen) == [
        "Name this installation",
        "Create the first company",
        "Add the first article",
        "Give a program a token",
    ]
    assert "Article: A1 , First" in text_of(seen.text)
    answer = await fresh.send("GET", "/api/articles", token=made["token"])
    assert [each["code"] for each in answer.body["data"]] == ["A1"]


async def test_the_steps_lead_through_warehouse_tls_and_the_disk_of_backups(
    fresh: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = Visitor(fresh)
    await became_admin(visitor, await offer(fresh))
    seen = await visitor.get("/start")
    assert 'href="/companies/1/warehouses/new"' in seen.text
    assert '<code>[server] tls = "lan"</code>' in seen.text
    assert "The backups are on the same disk as the data" in text_of(seen.text)
    assert (await sent(visitor, "/companies/1/warehouses/new", code="EAST", name="Eastern hall")).status == 303
    monkeypatch.setattr(BackupFolder, "is_on_disk_of", lambda self, other: False)
    seen = await visitor.get("/start")
    assert steps_done(seen)[1:] == ["Create the first warehouse", "Put the backups on another disk"]
    assert "Warehouse: EAST , Eastern hall" in text_of(seen.text)


MAILING = {"alerts": {"mail_to": ["admin@example.com"], "mail_relay": "relay.example.com"}}


async def test_the_steps_say_how_somebody_is_told_that_something_is_wrong(tmp_path: Path) -> None:
    """The step about e-mail is finished when a user has typed the code from the e-mail."""
    step = "Set up alerts"
    async with open_world(tmp_path / "data") as world:
        seen = await (await signed_in(world)).get("/start")
        assert (step in text_of(seen.text), step in steps_done(seen)) == (True, False)
        assert "No one receives alerts yet" in text_of(seen.text)
        assert "mail_relay" in seen.text
    async with open_world(tmp_path / "data", MAILING) as world:
        data, alerts, now = world.installation.folder.path, world.installation.settings.alerts, world.clock.now()
        visitor = Visitor(world)
        await visitor.sign_in(EMAIL, PASSWORD)
        assert "but this is not tested yet" in text_of((await visitor.get("/start")).text)
        mail_confirmation.note_sent(data, alerts, "123456", now)
        assert "wmsd sent an e-mail with a code to admin@example.com" in text_of(
            (await visitor.get("/start")).text
        )
        assert mail_confirmation.confirm_mail_code(data, alerts, "123456", now)
        seen = await visitor.get("/start")
        assert step in steps_done(seen)
        assert "Alerts go to admin@example.com by e-mail, confirmed" in text_of(seen.text)


@pytest.mark.parametrize("name", ["", " ", "x" * 256, "a\nb"])
async def test_a_name_that_does_not_do_is_kept_and_told(world: World, name: str) -> None:
    visitor = await signed_in(world)
    token = (await visitor.get("/start")).form_token
    refused = await visitor.post("/start", {"form_token": token, "name": name})
    assert (refused.status, 'id="name-error"' in refused.text) == (422, True)
    assert '<div class="name">wmsd</div>' in refused.text


async def test_the_steps_are_for_platform_admins(world: World) -> None:
    member = await signed_in(world, "ACME", abilities=["articles:read"])
    assert (await member.get("/start")).status == 403


def names_of(seen: Seen) -> list[str]:
    """Return the names of the people whom the demo's page offers."""
    return re.findall(r"Open the demo as (\w+)<", seen.text)


async def test_the_demo_opens_signed_in_by_its_own_link(world: World) -> None:
    loaded = await demo.load(world.installation)
    visitor = Visitor(world)
    code = loaded.links[0][1]
    path = f"/demo?code={code}"
    for _ in range(2):  # opening the page does not use up the link
        assert (await visitor.get(path)).heading == "The demo"
    done = await visitor.post("/demo", {"code": code})
    assert (done.status, done.goes_to) == (303, "/today")
    assert "Demo Trading" in (await visitor.get("/today")).text
    assert (await Visitor(world).get(path)).status == 404
    assert (await Visitor(world).post("/demo", {"code": code})).status == 404


@pytest.mark.parametrize("stays", [True, False])
async def test_the_browser_keeps_the_session_of_the_demo_if_it_is_asked_to(world: World, stays: bool) -> None:
    loaded = await demo.load(world.installation)
    sent = {"code": loaded.links[0][1], **({"stay": "on"} if stays else {})}
    done = await Visitor(world).post("/demo", sent)
    assert (done.goes_to, "Max-Age" in done.headers["Set-Cookie"]) == ("/today", stays)


@pytest.mark.parametrize("person", demo_links.PEOPLE, ids=lambda person: str(person.name))
async def test_everybody_of_the_demo_comes_in_by_a_link_of_their_own(
    world: World, person: demo_links.DemoPerson
) -> None:
    loaded = await demo.load(world.installation)
    code, visitor = dict(loaded.links)[person], Visitor(world)
    seen = await visitor.get(f"/demo?code={code}")
    assert names_of(seen) == (["Ana", "Mihai", "Ioana"] if person is demo_links.ADMIN else [person.name])
    if person.work is not None:
        assert person.work.says in seen.text
    await visitor.post("/demo", {"code": code, "email": person.email})
    assert person.email in (await visitor.get("/account")).text
    abilities = expand(["*"]) if person.work is None else person.work.abilities
    for kind in ("sales-orders", "purchase-orders", "returns"):
        form = await visitor.get(f"/companies/{loaded.company_id}/{kind}/new")
        assert (form.status == 200) == (f"{kind}:write" in abilities)


async def test_only_the_link_of_the_admin_lets_in_as_somebody_else(world: World) -> None:
    loaded = await demo.load(world.installation)
    (_, admin), (office, of_office), (_, of_warehouse) = loaded.links
    for email in (demo_links.DEMO_EMAIL, office.email, "admin@example.com"):
        refused = await Visitor(world).post("/demo", {"code": of_warehouse, "email": email})
        assert refused.status == 404
    visitor = Visitor(world)
    assert (await visitor.post("/demo", {"code": admin, "email": office.email})).status == 303
    assert office.email in (await visitor.get("/account")).text
    assert (await Visitor(world).post("/demo", {"code": of_office})).status == 303, "its own is still good"
    assert (await Visitor(world).post("/demo", {"code": of_warehouse})).status == 303


async def test_a_new_start_of_the_demo_ends_the_links_before(world: World) -> None:
    first = await demo.load(world.installation)
    await demo.load(world.installation)
    for _, code in first.links:
        assert (await Visitor(world).post("/demo", {"code": code})).status == 404
