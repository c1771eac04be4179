"""Admins set the policies of a company: the tolerance for over-receipts, and the threshold for low stock."""

import re

import pytest

from tests.interfaces.pages.administering import LEAD, audit, errors, signed_in_as
from tests.interfaces.pages.records.test_act import form_of, sent
from tests.interfaces.pages.records.test_browse import EMAIL, NOTHING, signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.support.shop import Shop
from wmsd.platform import company_policies

PATH = "/admin/companies/1/policies"


async def policies(visitor: Visitor) -> dict[str, object]:
    database = await visitor.world.database(1)
    return await database.read(company_policies.policies_as_json)


@pytest.fixture
async def admin(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


async def test_each_policy_is_explained_and_changed(admin: Visitor) -> None:
    form = await admin.get(PATH)
    assert (form.status, form.heading) == (200, "Change the policies")
    assert "How much more than ordered may be received, in percent." in form.text
    assert "If empty, only articles with their own minimum stock can be low." in form.text
    typed = form_of(form)
    assert (typed["over_receipt_pct"], typed["min_stock"]) == ("0", "")
    done = await admin.post(PATH, {**typed, "over_receipt_pct": "2,5", "min_stock": "0.5"})
    assert (done.status, done.goes_to) == (303, "/admin/companies/1?done=policies")
    assert "The policies are changed." in (await admin.get(done.goes_to)).text
    assert await policies(admin) == {"over_receipt_pct": 2.5, "min_stock": 0.5}
    assert form_of(await admin.get(PATH))["min_stock"] == "0.5"
    assert (await audit(admin))[0] == [
        EMAIL,
        "company.policies",
        "ACME",
        "127.0.0.1",
        f"Over-receipt, %: 0 → 2.5 Minimum stock: {NOTHING} → 0.5",
    ]
    done = await sent(admin, PATH, min_stock="")
    assert (done.status, await policies(admin)) == (303, {"over_receipt_pct": 2.5, "min_stock": None})


async def test_a_policy_counts_from_the_next_request_on(admin: Visitor, shop: Shop) -> None:
    """Article 2 has 1.5 in stock, and no minimum of its own."""
    order = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 2, "quantity": 0.5}]}
    told = ["sales_order.created", "stock.updated"]
    await shop.world.call("POST", "/api/sales-orders", order, status=201, events=told)
    assert (await sent(admin, PATH, min_stock="0.5")).status == 303
    await shop.world.call("POST", "/api/sales-orders", order, status=201, events=[*told, "stock.low"])


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"over_receipt_pct": "100.1"}, "Over-receipt, % must be at most 100."),
        ({"over_receipt_pct": ""}, "Over-receipt, % is required."),
        ({"over_receipt_pct": "-1"}, "Over-receipt, % must not be below 0."),
        ({"min_stock": "many"}, "Minimum stock must be a number, such as 12.5."),
        ({"min_stock": "100000000000000000000"}, "Minimum stock must be at most 999999999.999999."),
        ({"min_stock": "1e3"}, "Minimum stock must be a number, such as 12.5."),
        ({"min_stock": "NaN"}, "Minimum stock must be a number, such as 12.5."),
    ],
)
async def test_what_is_wrong_is_told_and_changes_nothing(
    admin: Visitor, typed: dict[str, str], message: str
) -> None:
    refused = await sent(admin, PATH, **typed)
    assert (refused.status, await errors(refused)) == (422, [message])
    for name, text in typed.items():
        assert re.search(rf'name="{name}"[^>]* value="{text}"', refused.text)
    assert await policies(admin) == {"over_receipt_pct": 0, "min_stock": None}


async def test_what_somebody_else_has_changed_is_not_overwritten(admin: Visitor) -> None:
    first, second = form_of(await admin.get(PATH)), form_of(await admin.get(PATH))
    assert (await admin.post(PATH, {**first, "min_stock": "5"})).status == 303
    refused = await admin.post(PATH, {**second, "min_stock": "6"})
    assert (refused.status, (await policies(admin))["min_stock"]) == (412, 5)
    assert "Another user changed this record after you opened the form." in refused.text


async def test_who_may(admin: Visitor) -> None:
    world = admin.world
    await world.new_company("OTHER")
    await world.new_user(LEAD, "company-admin", ["OTHER"])
    await world.new_user("m@example.com", "member", ["ACME", "OTHER"], ["stock:read"])
    lead, member = await signed_in_as(world, LEAD), await signed_in_as(world, "m@example.com")
    own = "/admin/companies/2/policies"
    typed = form_of(await lead.get(own))
    assert (await lead.get(PATH)).status == 404
    assert (await lead.post(PATH, {**typed, "min_stock": "9"})).status == 404
    token = (await member.get("/admin/tokens/new")).form_token
    fields = {"form_token": token, "over_receipt_pct": "1", "min_stock": "9"}
    assert (await member.get(own)).status == 403
    assert (await member.post(own, fields)).status == 403
    assert (await admin.get("/admin/companies/99/policies")).status == 404
    assert (await lead.post(own, {**typed, "min_stock": "9"})).status == 303
    assert await policies(admin) == {"over_receipt_pct": 0, "min_stock": None}
