"""Changes by people in the records of a company are in the audit; changes by programs are not."""

import asyncio
import html
import re

import pytest

from tests.interfaces.pages.administering import audit, id_of, invited
from tests.interfaces.pages.records.test_act import NEW_WEBHOOK, WEBHOOK, form_of, sent
from tests.interfaces.pages.records.test_browse import rows, signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.support.shop import Shop
from tests.support.world import PASSWORD
from wmsd.interfaces.pages.kit.quantities import DASH
from wmsd.tenants.companies import store as companies

EMAIL = "ana@example.com"

KINDS = {
    "articles": "article",
    "clients": "client",
    "partners": "partner",
    "warehouses": "warehouse",
    "packaging-types": "packaging_type",
}
OF_RECORDS = tuple(f"{noun}." for noun in KINDS.values())


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


async def of_records(visitor: Visitor) -> list[list[str]]:
    """Return actor, action, subject, address and changes, the newest first."""
    return [cells for cells in await audit(visitor) if cells[1].startswith(OF_RECORDS)]


@pytest.mark.parametrize("kind", KINDS)
async def test_who_made_and_changed_it_from_where(visitor: Visitor, kind: str) -> None:
    made = await sent(visitor, f"/companies/1/{kind}/new", code="N1", name="Novel")
    record = made.goes_to.partition("?")[0]
    assert (await sent(visitor, f"{record}/change", name="Newer", code="N2")).status == 303
    assert (await of_records(visitor))[:2] == [
        [EMAIL, f"{KINDS[kind]}.change", "ACME N1", "127.0.0.1", "Code: N1 → N2 Name: Novel → Newer"],
        [EMAIL, f"{KINDS[kind]}.create", "ACME N1", "127.0.0.1", DASH],
    ]
    before = await of_records(visitor)
    assert (await sent(visitor, f"{record}/change", name="Newer")).status == 303
    assert (await sent(visitor, f"{record}/change", name="", code="")).status == 422
    assert await of_records(visitor) == before


async def trail(visitor: Visitor, record: str) -> list[list[str]]:
    """Return action and subject of the audit entries that the record's page links to, the newest first."""
    seen = await visitor.get(record)
    (address,) = re.findall(r'href="(/admin/audit[^"]*)">Change history', seen.text)
    return [cells[2:4] for cells in rows(await visitor.get(html.unescape(address)))]


@pytest.mark.parametrize("kind", KINDS)
async def test_each_record_leads_to_who_changed_it(visitor: Visitor, kind: str) -> None:
    """The audit lists the record under all its codes, and no other record with the same code."""
    made = (await sent(visitor, f"/companies/1/{kind}/new", code="N1", name="Novel")).goes_to.partition("?")[0]
    assert (await sent(visitor, f"{made}/change", code="N2")).status == 303
    for other in KINDS.keys() - {kind}:
        assert (await sent(visitor, f"/companies/1/{other}/new", code="N1", name="Other")).status == 303
    again = (await sent(visitor, f"/companies/1/{kind}/new", code="N1", name="Second")).goes_to.partition("?")[0]
    noun = KINDS[kind]
    assert await trail(visitor, made) == [[f"{noun}.change", "ACME N1"], [f"{noun}.create", "ACME N1"]]
    assert await trail(visitor, again) == [[f"{noun}.create", "ACME N1"]]


async def test_companies_and_people_lead_to_who_changed_them(visitor: Visitor) -> None:
    assert (await sent(visitor, "/admin/companies/1/change", name="Acme Newer")).status == 303
    assert (await trail(visitor, "/admin/companies/1"))[0] == ["company.change", "ACME"]
    assert ["user.create platform-admin", "admin@example.com"] in await trail(visitor, "/admin/users/1")


async def test_somebody_invited_in_capitals_leads_to_the_invitation(visitor: Visitor) -> None:
    await invited(visitor, "Ion@Example.COM", company_codes="ACME")
    number = await id_of(visitor, "ion@example.com")
    assert await trail(visitor, f"/admin/users/{number}") == [["user.create member", "ion@example.com"]]


async def test_who_may_not_read_the_audit_is_led_nowhere(visitor: Visitor) -> None:
    world = visitor.world
    await world.new_user("lead@example.com", "company-admin", ["ACME"])
    lead = Visitor(world)
    await lead.sign_in("lead@example.com", PASSWORD)
    seen = await lead.get("/companies/1/articles/1")
    assert (seen.status, "Change history" in seen.text) == (200, False)


async def test_the_one_who_may_not_leaves_no_entry(visitor: Visitor) -> None:
    world = visitor.world
    await world.new_user("member@example.com", "member", ["ACME"], ["stock:read"])
    member = Visitor(world)
    await member.sign_in("member@example.com", PASSWORD)
    token = form_of(await visitor.get("/companies/1/clients/new"))
    assert (await member.post("/companies/1/clients/new", {**token, "code": "X", "name": "X"})).status in (
        403,
        404,
    )
    assert await of_records(visitor) == []


async def test_a_form_that_is_sent_twice_is_told_once(visitor: Visitor) -> None:
    form = {**form_of(await visitor.get("/companies/1/articles/new")), "code": "TWICE", "name": "Once"}
    answers = await asyncio.gather(*(visitor.post("/companies/1/articles/new", form) for _ in range(3)))
    assert {each.status for each in answers} <= {303, 409, 422}
    assert [each[1:3] for each in await of_records(visitor)] == [["article.create", "ACME TWICE"]]


async def test_what_a_program_does_is_told_by_events_only(visitor: Visitor) -> None:
    world = visitor.world
    made = (
        await world.call(
            "POST", "/api/articles", {"code": "P", "name": "P"}, status=201, events=["article.created"]
        )
    ).body
    await world.call("PATCH", f"/api/articles/{made['id']}", {"name": "Q"}, events=["article.updated"])
    assert await of_records(visitor) == []


async def test_a_long_value_is_cut(visitor: Visitor) -> None:
    long = "x" * 4000
    assert (await sent(visitor, "/companies/1/articles/1/change", description=long)).status == 303
    given = dict.fromkeys(("who", "subject", "since", "until"))
    found = await visitor.world.installation.platform.read(
        lambda tx: companies.audit_entries(tx, what="article.change", limit=1, **given)
    )
    assert found[0]["details"] == {"description": {"before": None, "after": f"{'x' * 500}…"}}


async def test_webhooks_without_their_credentials(visitor: Visitor) -> None:
    made = await sent(visitor, NEW_WEBHOOK, **{**WEBHOOK, "url": "https://me:my-password@receiver.invalid/hook"})
    if made.status != 303:  # an address with a password is refused
        made = await sent(visitor, NEW_WEBHOOK, **WEBHOOK)
    assert made.status == 303, made.text
    record = made.goes_to.partition("?")[0]
    other = "https://other.invalid/hook"
    assert (
        await sent(visitor, f"{record}/change", url=other, secret="another-secret-of-32-characters!!")
    ).status == 303
    assert (await sent(visitor, f"{record}/change")).status == 303
    assert (await sent(visitor, f"{record}/remove")).status == 303
    found = [cells for cells in await audit(visitor) if cells[1].startswith("webhook.")]
    assert [cells[1:4] for cells in found] == [
        ["webhook.delete", "ACME Shop", "127.0.0.1"],
        ["webhook.change", "ACME Shop", "127.0.0.1"],
        ["webhook.create", "ACME Shop", "127.0.0.1"],
    ]
    assert "other.invalid" in found[1][4]
    assert "Secret: *** → ***" in found[1][4]
    assert "another-secret" not in str(found)
    assert "my-password" not in str(found)
