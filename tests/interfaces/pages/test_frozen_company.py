"""A company that is being moved: its pages say so, and refuse changes."""

import re

import pytest

from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.records.test_document_work import steps
from tests.interfaces.pages.visitor import Visitor
from tests.interfaces.pages.work.test_import_files import looked_at, upload
from tests.support.shop import Shop
from wmsd.platform import company_policies
from wmsd.tenants.companies import actions

BANNER = "because it is being moved."
REFUSED = "ACME is being moved and has accepted no changes since "


@pytest.fixture
async def admin(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


async def freeze(admin: Visitor) -> None:
    await admin.world.installation.platform.write(lambda tx: actions.freeze_company(tx, "ACME"))


async def test_each_page_of_the_company_and_today_say_so(admin: Visitor) -> None:
    assert BANNER not in (await admin.get("/companies/1/articles")).text
    await freeze(admin)
    for path in ("/companies/1/articles", "/companies/1/articles/1"):
        shown = await admin.get(path)
        assert (shown.status, BANNER in shown.text) == (200, True), path
    today = (await admin.get("/today")).text
    assert "frozen since 20 Nov 2026, 12:00 UTC" in today
    assert "Problems" not in today  # a freeze is intended
    assert "A company is frozen, because it is being moved." in (await admin.get("/admin/health")).text


async def test_the_steps_of_a_document_stay_visible_with_the_reason(admin: Visitor, shop: Shop) -> None:
    await shop.order()
    open_now = await admin.get("/companies/1/sales-orders/1")
    assert {may for _, may in steps(open_now)} == {True}
    await freeze(admin)
    seen = await admin.get("/companies/1/sales-orders/1")
    assert steps(seen) == [(name, False) for name, _ in steps(open_now)]
    (why,) = re.findall(r'id="why-not">(.*?)</p>', seen.text)
    names = ", ".join(name for name, _ in steps(seen))
    assert why == f"{names}: The company is being moved. Changes are refused until the move ends."
    refused = await admin.post("/companies/1/sales-orders/1/start", {"form_token": seen.form_token})
    assert (refused.status, REFUSED in refused.text) == (503, True)


async def test_forms_are_refused_in_plain_words_and_nothing_is_changed(admin: Visitor) -> None:
    before = await admin.world.last_change()
    database = await admin.world.database(1)
    policies = await database.read(company_policies.policies_as_json)
    await freeze(admin)
    for path, fields in (
        ("/companies/1/articles/new", {"code": "NEW", "name": "New"}),
        ("/admin/companies/1/policies", {"over_receipt_pct": "5"}),
    ):
        answer = await sent(admin, path, **fields)
        assert (answer.status, REFUSED in answer.text) == (503, True), path
    assert await admin.world.last_change() == before
    assert await database.read(company_policies.policies_as_json) == policies


async def test_uploads_are_refused_before_and_after_they_were_looked_at(admin: Visitor) -> None:
    rows = "code,name\nNEW,New\n"
    path, _ = await looked_at(admin, "clients", rows)
    await freeze(admin)
    answers = [
        await upload(admin, "clients", rows),
        await admin.post(f"{path}/confirm", {"form_token": (await admin.get(path)).form_token}),
    ]
    assert [(each.status, REFUSED in each.text) for each in answers] == [(503, True)] * 2
    clients = await admin.world.call("GET", "/api/graphql?query={clients{nodes{code}}}")
    assert "NEW" not in str(clients.body)
