"""The page The day after: the losses of a restore, the access that may have come back, and the act that settles
each.
"""

import json
import re
from html import unescape

import pytest

from tests.interfaces.pages.administering import LEAD, audit
from tests.interfaces.pages.records.test_browse import EMAIL, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.world import World
from wmsd.base.vault import Vault
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import actions as accounts
from wmsd.tenants.accounts import second_factors
from wmsd.tenants.accounts.schema import NewUser
from wmsd.tenants.recovery.losses import list_losses
from wmsd.tenants.sites import actions as sites
from wmsd.tenants.sites.schema import NewSite

FORMS = re.compile(r'<form class="acts" method="post">(.*?)</form>', re.DOTALL)
FIELDS = re.compile(r'name="(\w+)" value="(.*?)"')
MOMENT = "2026-11-19T02:30:00.000Z"
ADMIN = "admin@example.com"
OTHER = Vault("the key of before the disaster")


async def disaster(world: World) -> None:
    """Simulate the first start after a restore without the keys."""
    sealed = OTHER.seal(json.dumps({"secret": "s" * 40}))
    hook = {"name": "ERP", "url": "https://erp.example.com/in", "events": ["*"], "secret": "n" * 40}
    await world.call("POST", "/api/webhooks", hook, status=201)
    await (await world.database()).write(
        lambda tx: tx.execute("UPDATE webhook_subscriptions SET credentials = ?", (sealed,))
    )

    def lose(tx: Transaction) -> None:
        user_id = tx.value("SELECT id FROM users WHERE email = ?", (LEAD,))
        second_factors.begin(tx, user_id, OTHER)
        second_factors.switch_on(tx, user_id)
        tx.execute("INSERT INTO recoveries (began_at, access_unknown_after) VALUES (?, ?)", (tx.timestamp, MOMENT))
        list_losses(tx, lost_signing_keys=True, lost_vault=True)

    new = NewUser(email=LEAD, name=LEAD, role="company-admin", company_codes=["ACME"], abilities=[])
    await world.installation.platform.write(lambda tx: accounts.create_user(tx, new, ""))
    await world.installation.platform.write(lose)
    await world.jobs.lost_credentials.look()


@pytest.fixture
async def admin(world: World) -> Visitor:
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    visitor = await signed_in(world)
    await disaster(world)
    return visitor


def buttons(seen: Seen) -> list[dict[str, str]]:
    """Return the fields of each button, including the entry and the act."""
    return [{name: unescape(value) for name, value in FIELDS.findall(form)} for form in FORMS.findall(seen.text)]


async def press(visitor: Visitor, act: str, about: str = "") -> Seen:
    """Press the first button of this act in the row that contains `about`."""
    seen = await visitor.get("/admin/after-restore")
    row = next(each for each in seen.text.split("<tr>") if about in each and f'value="{act}"' in each)
    [*found] = [form for form in buttons_of(row) if form["act"] == act]
    return await visitor.post("/admin/after-restore", found[0])


def buttons_of(row: str) -> list[dict[str, str]]:
    return [{name: unescape(value) for name, value in FIELDS.findall(form)} for form in FORMS.findall(row)]


async def open_entries(world: World) -> set[tuple[str, str]]:
    return await world.installation.platform.read(
        lambda tx: {
            (row[0], row[1]) for row in tx.rows("SELECT kind, subject FROM recovery_entries WHERE done_at IS NULL")
        }
    )


async def test_it_shows_all_that_is_open_and_leads_to_each_act(admin: Visitor) -> None:
    seen = await admin.get("/admin/after-restore")
    assert (seen.status, seen.heading) == (200, "After a restore")
    told = text_of(seen.text)
    for sentence in (
        "wmsd can no longer decrypt the credentials of the webhook ERP of ACME, which sends to erp.example.com.",
        f"The second factor of {LEAD} was lost with the keys",
        f"The user {LEAD} (company-admin) can sign in, but was perhaps disabled after the backup.",
        "wmsd does not know which tokens were revoked and which users were disabled after",
        "was lost with the keys. wmsd refuses a program that uses this token.",
    ):
        assert sentence in told, sentence
    for address in ("/companies/1/webhooks/1/change", "/admin/tokens/new"):
        assert f'href="{address}"' in seen.text
        assert (await admin.get(address)).status == 200


async def test_today_and_health_lead_there_until_it_is_settled(admin: Visitor) -> None:
    world = admin.world
    today = await admin.get("/today")
    assert "Not everything that a restore lost or brought back is settled." in text_of(today.text)
    assert 'href="/admin/after-restore">After a restore: what to do' in today.text
    assert (await world.call("GET", "/api/health")).body["status"] == "degraded"
    assert "After a restore" in (await admin.get("/admin/health")).text

    await world.call("PATCH", "/api/webhooks/1", {"secret": "m" * 40})
    await world.jobs.lost_credentials.look()
    assert (await press(admin, "remove-second-factor")).goes_to == "/admin/after-restore?done=remove-second-factor"
    while 'value="dismiss"' in (await admin.get("/admin/after-restore")).text:
        await press(admin, "dismiss")
    seen = await press(admin, "end", LEAD)
    assert "The access is ended." in (await admin.get(seen.goes_to)).text
    assert ("user", LEAD) not in await open_entries(world)
    for email in (EMAIL, ADMIN):
        await press(admin, "confirm", email)
    assert await open_entries(world) == set()
    assert "There is nothing to do" in (await admin.get("/admin/after-restore")).text
    assert (await world.call("GET", "/api/health")).body["status"] == "ok"
    assert "Not everything that a restore lost" not in text_of((await admin.get("/today")).text)
    disabled = await world.installation.platform.read(
        lambda tx: tx.value("SELECT disabled_at IS NOT NULL FROM users WHERE email = ?", (LEAD,))
    )
    assert disabled
    assert any(each[1].startswith("recovery.confirm user") for each in await audit(admin))


async def test_all_may_be_confirmed_at_once(admin: Visitor) -> None:
    seen = await admin.get("/admin/after-restore")
    [every] = [each for each in buttons(seen) if (each["entry"], each["act"]) == ("all", "confirm")]
    await admin.post("/admin/after-restore", every)
    assert {kind for kind, _ in await open_entries(admin.world)} == {"token", "webhook", "second-factor"}


async def test_the_same_button_is_pressed_on_two_pages(admin: Visitor) -> None:
    pages = [await admin.get("/admin/after-restore") for _ in range(2)]
    forms = [next(each for each in buttons(seen) if each["act"] == "confirm") for seen in pages]
    assert forms[0]["entry"] == forms[1]["entry"]
    for form in forms:
        assert (await admin.post("/admin/after-restore", form)).status == 303
    audited = [each for each in await audit(admin) if each[1].startswith("recovery.confirm")]
    assert len(audited) == 1


async def test_what_the_page_cannot_do_changes_nothing(admin: Visitor) -> None:
    before = await open_entries(admin.world)
    form = next(each for each in buttons(await admin.get("/admin/after-restore")) if each["act"] == "confirm")
    for wrong in (
        {"act": "burn"},
        {"act": ""},
        {"entry": "999"},
        {"entry": "x"},
        {"entry": ""},
        {"entry": "9" * 400},
    ):
        seen = await admin.post("/admin/after-restore", {**form, **wrong})
        assert seen.status in (422, 400), (wrong, seen.status)
    lost = next(each for each in buttons(await admin.get("/admin/after-restore")) if each["act"] == "dismiss")
    seen = await admin.post("/admin/after-restore", {**lost, "act": "confirm"})
    assert "this entry is about something lost, not about access" in text_of(seen.text)
    assert (await admin.post("/admin/after-restore", {**form, "form_token": "x"})).status == 403
    assert await open_entries(admin.world) == before


async def test_the_bearer_of_a_site_is_listed_and_ended(world: World) -> None:
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    visitor = await signed_in(world)
    database = await world.database()
    warehouse_id = await database.read(lambda tx: tx.value("SELECT id FROM warehouses"))
    await world.installation.platform.write(
        lambda tx: sites.create_site(tx, "ACME", warehouse_id, "MAIN", NewSite(name="Dock"))
    )
    await disaster(world)
    assert ("site", "ACME") in await open_entries(world)
    await press(visitor, "end", "Dock")
    assert ("site", "ACME") not in await open_entries(world)
    assert await world.installation.platform.read(lambda tx: tx.value("SELECT token_hash FROM sites")) is None
