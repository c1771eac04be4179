"""Platform admins manage the bearers of transport sites, and the platform token."""

import re

import pytest

from tests.interfaces.pages.administering import LEAD, audit, errors, shown_once, signed_in_as
from tests.interfaces.pages.records.test_act import form_of, sent
from tests.interfaces.pages.records.test_browse import EMAIL, NOTHING, rows, signed_in
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop
from tests.support.world import ETSM, KERNEL
from wmsd.contract.operation import Operation
from wmsd.interfaces.pages.kit.installation_resources import KERNEL_TOKEN_ACTS, SITE_ACTS

SITE = {"company_code": "ACME", "warehouse_code": "MAIN", "name": "Main hall"}
DAY = 86_400
FILTERED_OUT = "No records match these filters."


@pytest.fixture
async def admin(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


async def opens(visitor: Visitor, bearer: str) -> bool:
    answer = await visitor.world.send("GET", f"{ETSM}/orders", token=bearer, company="")
    assert answer.status in (200, 401), answer.raw
    return answer.status == 200


async def opens_kernel(visitor: Visitor, token: str) -> bool:
    answer = await visitor.world.send("GET", f"{KERNEL}stats", token=token, company="")
    assert answer.status in (200, 401), answer.raw
    return answer.status == 200


async def made(visitor: Visitor, **typed: str) -> str:
    return shown_once(await sent(visitor, "/admin/sites/new", **{**SITE, **typed}))["token"]


async def again(visitor: Visitor) -> None:
    """Sign in again, because the session has expired."""
    assert (await visitor.sign_in(EMAIL, "correct horse battery")).status == 303


async def test_a_site_is_made_and_its_bearer_shown_once(admin: Visitor) -> None:
    seen = await sent(admin, "/admin/sites/new", **SITE)
    shown = shown_once(seen)
    address = f"{admin.world.base_url}{ETSM}/orders"
    assert shown["line"] == f"curl {address} -H 'Authorization: Bearer {shown['token']}'"
    assert 'data-copy="token"' in seen.text
    assert await opens(admin, shown["token"])
    listed = await admin.get("/admin/sites")
    assert shown["token"] not in listed.text + (await admin.get("/admin/sites/1")).text
    assert rows(listed) == [["Main hall", "ACME", "MAIN", "active", NOTHING, NOTHING]]
    assert (await audit(admin))[0][:4] == [EMAIL, "site.create", "ACME MAIN", "127.0.0.1"]


async def test_when_and_from_where_a_bearer_was_used(admin: Visitor) -> None:
    assert await opens(admin, await made(admin))
    version = "SELECT version FROM access_version"
    platform = admin.world.installation.platform
    before = await platform.read(lambda tx: tx.value(version))
    await admin.world.installation.access.write_token_uses()
    assert rows(await admin.get("/admin/sites"))[0][4:] == ["20 Nov 2026, 12:00 UTC", "127.0.0.1"]
    assert await platform.read(lambda tx: tx.value(version)) == before, "nobody has to be looked up again for it"


async def test_the_bearer_before_works_for_a_day(admin: Visitor) -> None:
    first = await made(admin)
    second = shown_once(await sent(admin, "/admin/sites/1/renew"))["token"]
    assert [await opens(admin, each) for each in (first, second)] == [True, True]
    admin.world.clock.advance(DAY)
    assert [await opens(admin, each) for each in (first, second)] == [False, True]


async def test_a_bearer_that_leaked_ends_at_once(admin: Visitor) -> None:
    first = await made(admin)
    second = shown_once(await sent(admin, "/admin/sites/1/renew", at_once="on"))["token"]
    assert [await opens(admin, each) for each in (first, second)] == [False, True]
    assert (await audit(admin))[0][1] == "site.rotate at once"


async def test_a_revoked_site_is_opened_again(admin: Visitor) -> None:
    first = await made(admin)
    assert (await sent(admin, "/admin/sites/1/revoke")).status == 303
    assert not await opens(admin, first)
    assert FILTERED_OUT in (await admin.get("/admin/sites?status=active")).text
    assert "/admin/sites/1/revoke" not in (await admin.get("/admin/sites/1")).text
    assert await opens(admin, shown_once(await sent(admin, "/admin/sites/1/renew"))["token"])
    assert [each[1] for each in (await audit(admin))[:3]] == ["site.rotate", "site.revoke", "site.create"]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"company_code": "NONE"}, "Company code NONE is not a company of this installation."),
        ({"warehouse_code": "NONE"}, "Warehouse code NONE is not a warehouse of ACME."),
        ({"warehouse_code": "SHUT"}, "Warehouse code SHUT is not active."),
        ({"name": ""}, "Name must be a string."),
        ({"name": "x" * 256}, "Name must have at most 255 characters."),
    ],
)
async def test_a_wrong_site_is_told(admin: Visitor, typed: dict[str, str], message: str) -> None:
    refused = await sent(admin, "/admin/sites/new", **{**SITE, **typed})
    assert (refused.status, len(await errors(refused))) == (422, 1)
    if "name" not in typed:
        assert await errors(refused) == [message]
    assert rows(await admin.get("/admin/sites")) == []


async def test_a_warehouse_has_one_site(admin: Visitor) -> None:
    bearer = await made(admin)
    refused = await sent(admin, "/admin/sites/new", **{**SITE, "name": "Other"})
    assert await errors(refused) == [
        "Warehouse code MAIN already has a site; create a new bearer token for that site instead."
    ]
    assert await opens(admin, bearer)


async def test_a_module_that_is_off_is_told(admin: Visitor) -> None:
    typed = form_of(await admin.get("/admin/companies/1/change"))
    typed.pop("modules:outbound")
    assert (await admin.post("/admin/companies/1/change", typed)).status == 303
    assert "ACME does not have the modules outbound" in (await sent(admin, "/admin/sites/new", **SITE)).text


async def test_a_form_that_is_sent_twice_makes_one_bearer(admin: Visitor) -> None:
    await made(admin)
    fields = form_of(await admin.get("/admin/sites/1/renew"))
    seen = [await admin.post("/admin/sites/1/renew", fields) for _ in range(2)]
    assert [each.status for each in seen] == [200, 409]
    assert await opens(admin, shown_once(seen[0])["token"])


async def test_the_platform_token_is_made_replaced_and_revoked(admin: Visitor) -> None:
    assert (
        "The addresses for the program begin with /api/kernel/v1" in (await admin.get("/admin/kernel-tokens")).text
    )
    first = shown_once(await sent(admin, "/admin/kernel-tokens/new"))
    assert first["line"].startswith(f"curl {admin.world.base_url}{KERNEL}stats -H 'Authorization: Bearer wmsdk_")
    assert await opens_kernel(admin, first["token"])
    await admin.world.installation.access.write_token_uses()
    assert rows(await admin.get("/admin/kernel-tokens"))[0] == [
        "1",
        "current",
        "20 Nov 2026, 12:00 UTC",
        NOTHING,
        "20 Nov 2026, 12:00 UTC",
        "127.0.0.1",
    ]
    second = shown_once(await sent(admin, "/admin/kernel-tokens/1/replace"))["token"]
    assert [await opens_kernel(admin, each) for each in (first["token"], second)] == [True, True]
    assert [cells[1] for cells in rows(await admin.get("/admin/kernel-tokens"))] == ["current", "replaced"]
    third = shown_once(await sent(admin, "/admin/kernel-tokens/2/replace", at_once="on"))["token"]
    assert [await opens_kernel(admin, each) for each in (first["token"], second, third)] == [False, False, True]
    assert (await sent(admin, "/admin/kernel-tokens/3/revoke")).status == 303
    assert not await opens_kernel(admin, third)
    assert [cells[1] for cells in rows(await admin.get("/admin/kernel-tokens"))] == ["revoked"] * 3
    assert [each[1] for each in (await audit(admin))[:4]] == [
        "kernel-token.revoke",
        "kernel-token.rotate at once",
        "kernel-token.rotate",
        "kernel-token.create",
    ]


async def test_there_is_one_platform_token_at_a_time(admin: Visitor) -> None:
    token = shown_once(await sent(admin, "/admin/kernel-tokens/new"))["token"]
    refused = await sent(admin, "/admin/kernel-tokens/new")
    assert (refused.status, "A platform token already exists." in refused.text) == (409, True)
    stale = form_of(await admin.get("/admin/kernel-tokens/1/replace"))
    newer = shown_once(await sent(admin, "/admin/kernel-tokens/1/replace"))["token"]
    refused = await admin.post("/admin/kernel-tokens/1/replace", {**stale, "at_once": "on"})
    assert (refused.status, "was already replaced or revoked" in refused.text) == (409, True)
    assert [await opens_kernel(admin, each) for each in (token, newer)] == [True, True]


async def test_nobody_else_may(admin: Visitor) -> None:
    world = admin.world
    bearer, token = await made(admin), shown_once(await sent(admin, "/admin/kernel-tokens/new"))["token"]
    await world.new_user(LEAD, "company-admin", ["ACME"])
    await world.new_user("m@example.com", "member", ["ACME"], ["stock:read"])
    entries = await audit(admin)
    acts: dict[str, list[Operation]] = {
        "sites": [act.operation for act in SITE_ACTS],
        "kernel-tokens": [act.operation for act in KERNEL_TOKEN_ACTS],
    }
    assert {each.role for of_one in acts.values() for each in of_one} == {"platform-admin"}
    for email in (LEAD, "m@example.com"):
        visitor = await signed_in_as(world, email)
        form_token = (await visitor.get("/admin/tokens/new")).form_token
        assert re.search("/admin/(sites|kernel-tokens)", (await visitor.get("/today")).text) is None
        for name, of in (("sites", SITE_ACTS), ("kernel-tokens", KERNEL_TOKEN_ACTS)):
            for path in (f"/admin/{name}", f"/admin/{name}.csv", f"/admin/{name}/1"):
                assert (await visitor.get(path)).status == 403, (email, path)
            for act in of:
                path = f"/admin/{name}/{act.name}" if act.makes_one else f"/admin/{name}/1/{act.name}"
                seen: Seen = await visitor.post(path, {"form_token": form_token, **SITE})
                assert seen.status == 403, (email, path)
    stranger = Visitor(world)
    for path in ("/admin/sites", "/admin/kernel-tokens", "/admin/sites/1/renew"):
        assert (await stranger.get(path)).goes_to.startswith("/sign-in")
    other_site = await admin.post("/admin/sites/1/revoke", {"form_token": "x"}, site="cross-site")
    assert other_site.status == 403
    assert await opens(admin, bearer)
    assert await opens_kernel(admin, token)
    now = [each for each in await audit(admin) if each[1] != "session.begin"]
    assert now == [each for each in entries if each[1] != "session.begin"]
