"""Abilities are chosen by the kind of work: a set selects what the work needs, and its user can do the work."""

import pytest

from tests.interfaces.pages.administering import MEMBER, id_of, signed_in_as
from tests.interfaces.pages.records.test_act import form_of, sent
from tests.interfaces.pages.records.test_browse import text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop
from wmsd.contract.access import ABILITIES, ABILITY_SETS, READ_ABILITIES

NEW = "/admin/users/new"
SETS = {each.name: each for each in ABILITY_SETS}
FORMS = (
    "sales-orders/new",
    "purchase-orders/new",
    "receptions/new?purchase_order=1",
    "returns/new",
    "articles/new",
    "partners/new",
    "clients/new",
    "warehouses/new",
)


def ticked(seen: Seen) -> set[str]:
    return {name.removeprefix("abilities:") for name in form_of(seen) if name.startswith("abilities:")}


@pytest.mark.parametrize("name", list(SETS))
async def test_a_set_ticks_its_abilities_and_keeps_what_was_typed(admin: Visitor, name: str) -> None:
    typed = {"email": MEMBER, "name": "Ion", "abilities:*": "on", "abilities:webhooks:write": "on"}
    seen = await sent(admin, NEW, **typed, set=name)
    assert (form_of(seen)["email"], form_of(seen)["name"]) == (MEMBER, "Ion")
    assert ticked(seen) == SETS[name].abilities
    assert (await admin.get("/admin/users")).text.count(MEMBER) == 0, "nobody is invited yet"
    rest = {**form_of(seen), "company_codes": "OTHER"}
    assert (await admin.post(NEW, rest)).status == 200
    again = await admin.get(f"/admin/users/{await id_of(admin, MEMBER)}/change")
    assert ticked(again) == SETS[name].abilities


async def test_each_set_is_explained(admin: Visitor) -> None:
    await admin.world.new_user(MEMBER, "member", ["OTHER"])
    for path in (NEW, f"/admin/users/{await id_of(admin, MEMBER)}/change"):
        seen = text_of((await admin.get(path)).text)
        for each in ABILITY_SETS:
            assert f"{each.text} {each.says}" in seen
    tokens = text_of((await admin.get("/admin/tokens/new")).text)
    assert "reads all records" not in tokens, "programs do no such work"


async def test_a_set_that_there_is_not_ticks_nothing(admin: Visitor) -> None:
    assert ticked(await sent(admin, NEW, set="everything")) == set()


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("office", {"sales-orders", "purchase-orders", "returns", "articles", "partners", "clients"}),
        ("warehouse", {"sales-orders", "receptions", "returns"}),
        ("reads-only", set()),
    ],
)
async def test_whoever_has_a_set_can_do_its_work_and_no_more(shop: Shop, name: str, forms: set[str]) -> None:
    world = shop.world
    bought = {"partner_id": 1, "warehouse_id": 1, "items": [{"article_code": "A", "quantity": 1}]}
    await world.call("POST", "/api/purchase-orders", bought, status=201, events=["purchase_order.created"])
    await world.new_user(MEMBER, "member", ["ACME"], sorted(SETS[name].abilities))
    member = await signed_in_as(world, MEMBER)
    opened = {path.partition("/")[0] for path in FORMS if (await member.get(f"/companies/1/{path}")).status == 200}
    assert opened == forms
    lists = ("sales-orders", "purchase-orders", "receptions", "returns", "articles", "stock", "partners")
    assert {(await member.get(f"/companies/1/{each}")).status for each in lists} == {200}


async def test_who_reads_only_writes_no_return(shop: Shop) -> None:
    """The ability to read is enough for tokens, as before, but not for people."""
    order = await shop.order(status="LIVRAT")
    back = {"partner_id": 1, "warehouse_id": 1, "sales_order_id": order.id}
    body = {**back, "lines": [{"article_code": "A", "quantity": 1}]}
    await shop.world.new_user(MEMBER, "member", ["ACME"], sorted(READ_ABILITIES))
    token = await shop.world.new_token(MEMBER, ["returns:read"])
    await shop.world.call("POST", "/api/returns", body, status=201, events=["return.created"], token=token)
    member = await signed_in_as(shop.world, MEMBER)
    page = await member.get("/companies/1/returns/1")
    assert page.status == 200
    assert "/returns/1/change" not in page.text
    for path in ("new", "1/change", "1/restock", "1/cancel"):
        refused = await member.get(f"/companies/1/returns/{path}")
        assert refused.status in (403, 404), path
    form = {"form_token": page.form_token, "partner": "P1", "warehouse": "MAIN"}
    refused = await member.post("/companies/1/returns/new", form)
    assert (refused.status, "You lack the ability returns:write." in text_of(refused.text)) == (403, True)


def test_the_sets_are_of_the_whitelist() -> None:
    for each in ABILITY_SETS:
        assert each.abilities <= set(ABILITIES)
    assert SETS["reads-only"].abilities == READ_ABILITIES, "as whoever has no ability named"
