"""Goods are received from a purchase order and come back from a sales order, on the pages."""

import re
from dataclasses import replace

import pytest

from tests.interfaces.pages.administering import signed_in_as
from tests.interfaces.pages.records.test_act import form_of, sent, still_in
from tests.interfaces.pages.records.test_browse import signed_in, text_of
from tests.interfaces.pages.records.test_document_work import (
    OF_OFFICE,
    ORDERS,
    PURCHASES,
    RECEPTIONS,
    RETURNS,
    document,
    lines,
)
from tests.interfaces.pages.visitor import Visitor
from tests.support.shop import Shop

NOTE = re.compile(r'<input id="([\w.]+)"[^>]*><span class="means small">(.*?)</span>')


@pytest.fixture
async def office(shop: Shop) -> Visitor:
    """Sign in a member of the company who may read and write documents."""
    return await signed_in(shop.world, "ACME", abilities=OF_OFFICE)


async def purchase(visitor: Visitor, *typed: tuple[str, str]) -> None:
    await visitor.world.import_csv("partners", "code,name,type\nS1,Supplier,FURNIZOR\n")
    given = {"partner": "S1", "warehouse": "MAIN"}
    done = await sent(visitor, f"{PURCHASES}/new", **given, **lines(*typed, name="items"))
    assert done.status == 303, done.text


async def test_a_purchase_order_is_received_as_ordered(office: Visitor, shop: Shop) -> None:
    await purchase(office, ("A", "10"), ("B", "4"))
    page = await office.get(f"{PURCHASES}/1")
    assert f'href="{RECEPTIONS}/new?purchase_order=1"' in page.text
    form = await office.get(f"{RECEPTIONS}/new?purchase_order=1")
    fields = form_of(form)
    assert [fields[f"selected_items.{number}.quantity_um3pl"] for number in (0, 1)] == ["10", "4"]
    assert "still to receive: 10 pcs" in text_of(form.text)
    done = await office.post(f"{RECEPTIONS}/new", fields)
    assert done.goes_to == f"{RECEPTIONS}/1?done=new", done.text
    assert (await sent(office, f"{RECEPTIONS}/1/finish")).goes_to == f"{RECEPTIONS}/1?done=finish"
    assert await shop.stock() == (30, 0, 30)
    assert (await document(office, "purchase-orders/1"))["status"] == "RECEPTIONAT"


async def test_a_reception_is_made_and_finished_in_one_go(office: Visitor, shop: Shop) -> None:
    """Finishing cannot be undone, so its form still asks for confirmation."""
    await purchase(office, ("A", "10"))
    fields = form_of(await office.get(f"{RECEPTIONS}/new?purchase_order=1"))
    wrong = await office.post(f"{RECEPTIONS}/new", {**fields, "warehouse": "NONE", "then": "finish"})
    assert wrong.status == 422
    for _ in range(2):
        done = await office.post(f"{RECEPTIONS}/new", {**fields, "then": "finish"})
        assert done.goes_to == f"{RECEPTIONS}/1/finish"
    assert (await document(office, "receptions/1"))["status"] == "CREAT"
    assert "A finished reception cannot be changed any more." in text_of((await office.get(done.goes_to)).text)
    await sent(office, f"{RECEPTIONS}/1/finish")
    assert await shop.stock() == (30, 0, 30)
    fields = form_of(await office.get(f"{RECEPTIONS}/new"))
    elsewhere = await office.post("/companies/1/purchase-orders/new", {**fields, "then": "finish"})
    assert elsewhere.status == 422, "only the act that says so leads on"


async def test_a_part_is_received_and_then_the_rest(office: Visitor, shop: Shop) -> None:
    await purchase(office, ("A", "10"), ("B", "4"))
    path = f"{RECEPTIONS}/new?purchase_order=1"
    fields = form_of(await office.get(path))
    part = {**fields, "selected_items.0.quantity_um3pl": "6", "selected_items.1.quantity_um3pl": ""}
    await office.post(f"{RECEPTIONS}/new", part)
    await sent(office, f"{RECEPTIONS}/1/finish")
    assert (await document(office, "purchase-orders/1"))["status"] == "PARTIAL"
    rest = form_of(await office.get(path))
    assert [rest[f"selected_items.{number}.quantity_um3pl"] for number in (0, 1)] == ["4", "4"]
    assert (await sent(office, f"{PURCHASES}/1/close")).goes_to == f"{PURCHASES}/1?done=close"
    assert await shop.stock() == (26, 0, 26)


async def test_the_last_box_of_a_complete_order_is_received_within_the_tolerance(
    office: Visitor, shop: Shop
) -> None:
    await shop.world.send("PATCH", "/api/articles/1", {"over_receipt_pct": 20})
    await purchase(office, ("A", "10"), ("B", "4"))
    path = f"{RECEPTIONS}/new?purchase_order=1"
    await office.post(f"{RECEPTIONS}/new", form_of(await office.get(path)))
    await sent(office, f"{RECEPTIONS}/1/finish")
    fields = form_of(await office.get(path))
    assert [fields[f"selected_items.{number}.quantity_um3pl"] for number in (0, 1)] == ["", ""]
    done = await office.post(f"{RECEPTIONS}/new", {**fields, "selected_items.0.quantity_um3pl": "2"})
    assert done.goes_to == f"{RECEPTIONS}/2?done=new", done.text
    await sent(office, f"{RECEPTIONS}/2/finish")
    assert await shop.stock() == (32, 0, 32)


async def test_the_status_of_an_order_is_told_at_its_field(office: Visitor) -> None:
    await sent(office, f"{ORDERS}/new", partner="P1", warehouse="MAIN", **lines(("A", "1")))
    fields = form_of(await office.get(f"{RETURNS}/new?sales_order=1"))
    refused = await office.post(f"{RETURNS}/new", fields)
    assert refused.status == 409
    assert "is CREAT: only loaded goods can be returned" in text_of(refused.text)
    assert still_in(refused).items() >= fields.items(), "nothing is lost"


async def test_more_than_ordered_is_refused_with_the_rule(office: Visitor) -> None:
    await purchase(office, ("A", "10"))
    fields = form_of(await office.get(f"{RECEPTIONS}/new?purchase_order=1"))
    seen = await office.post(f"{RECEPTIONS}/new", {**fields, "selected_items.0.quantity_um3pl": "11"})
    assert (seen.status, 'id="selected_items.0.quantity_um3pl-error"' in seen.text) == (422, True)


async def test_what_is_open_stands_beside_its_item_after_an_error_too(office: Visitor) -> None:
    """The open quantity stays beside its item after an error, even if an item that did not arrive moves to the
    end.
    """
    await purchase(office, ("A", "10"), ("B", "4"))
    fields = form_of(await office.get(f"{RECEPTIONS}/new?purchase_order=1"))
    wrong = {**fields, "selected_items.0.quantity_um3pl": "", "selected_items.1.quantity_um3pl": "5"}
    seen = await office.post(f"{RECEPTIONS}/new", wrong)
    assert seen.status == 422
    notes = {name: text_of(note) for name, note in NOTE.findall(seen.text) if name.endswith("quantity_um3pl")}
    assert notes == {
        "selected_items.0.quantity_um3pl": "still to receive: 4 pcs",
        "selected_items.1.quantity_um3pl": "still to receive: 10 pcs",
    }


async def test_a_code_of_no_order_leaves_the_form_without_notes(office: Visitor) -> None:
    await purchase(office, ("A", "10"))
    fields = form_of(await office.get(f"{RECEPTIONS}/new?purchase_order=1"))
    seen = await office.post(f"{RECEPTIONS}/new", {**fields, "purchase_order": "NONE"})
    assert (seen.status, "still to receive: 10 pcs" in text_of(seen.text)) == (422, False)


async def test_a_reception_begins_with_the_code_of_its_order(office: Visitor) -> None:
    await purchase(office, ("A", "10"))
    order = (await document(office, "purchase-orders/1"))["code"]
    begun = form_of(await office.get(f"{RECEPTIONS}/new"))
    seen = await office.post(f"{RECEPTIONS}/new", {**begun, "purchase_order": order, "more": "selected_items"})
    assert still_in(seen)["selected_items.0.quantity_um3pl"] == "10"
    assert (await office.post(f"{RECEPTIONS}/new", still_in(seen))).status == 303
    wrong = await office.post(f"{RECEPTIONS}/new", {**begun, "purchase_order": "NONE", "more": "selected_items"})
    assert (wrong.status, "is not known: no record has the code NONE" in wrong.text) == (422, True)


async def test_goods_come_back_into_quarantine(office: Visitor, shop: Shop) -> None:
    await shop.order({"article_id": 1, "quantity": 3}, {"article_id": 2, "quantity": 1}, status="LIVRAT")
    page = await office.get(f"{ORDERS}/1")
    assert f'href="{RETURNS}/new?sales_order=1"' in page.text
    fields = form_of(await office.get(f"{RETURNS}/new?sales_order=1"))
    back = {**fields, "lines.0.quantity": "2", "lines.1.article_code": "", "lines.1.quantity": ""}
    done = await office.post(f"{RETURNS}/new", back)
    assert done.goes_to == f"{RETURNS}/1?done=new", done.text
    await sent(office, f"{RETURNS}/1/receive")
    refused = await sent(office, f"{RETURNS}/1/finish")
    assert refused.status == 422
    told = await sent(office, f"{RETURNS}/1/change", **{"lines.0.disposition": "CARANTINA"})
    assert told.status == 303, told.text
    assert (await sent(office, f"{RETURNS}/1/finish")).goes_to == f"{RETURNS}/1?done=finish"
    assert (await document(office, "returns/1"))["status"] == "FINALIZAT"
    seen = text_of((await office.get(f"{RETURNS}/1")).text)
    assert "CARANTINA" not in seen, "also in what happened"
    assert seen.count("Quarantine") == 2
    (record,) = (await document(office, "stock?article_id=1&warehouse_id=1"))["data"]
    assert (record["quantity"], record["quarantined"]) == (19, 2)


async def test_how_much_is_open_is_left_to_who_may_not_read_the_unit(office: Visitor, shop: Shop) -> None:
    await purchase(office, ("A", "10"))
    abilities = ["purchase-orders:read", "receptions:read", "receptions:write", "warehouses:read"]
    await shop.world.new_user("dock@example.com", "member", ["ACME"], abilities)
    dock = await signed_in_as(shop.world, "dock@example.com")
    fields = form_of(await dock.get(f"{RECEPTIONS}/new?purchase_order=1"))
    assert fields["selected_items.0.quantity_um3pl"] == ""


async def test_another_order_brings_its_own_lines_only(office: Visitor) -> None:
    await purchase(office, ("A", "10"), ("B", "4"))
    await purchase(office, ("B", "5"))
    form = form_of(await office.get(f"{RECEPTIONS}/new?purchase_order=1"))
    other = {**form, "purchase_order": "PO-000002"}
    wrong = await office.post(f"{RECEPTIONS}/new", other)
    assert wrong.status == 422
    assert 'class="error" id="selected_items.0.' in wrong.text
    shown = form_of(
        replace(await office.post(f"{RECEPTIONS}/new", {**other, "more": "selected_items"}), status=200)
    )
    amounts = {name: value for name, value in shown.items() if name.endswith("quantity_um3pl")}
    assert amounts == {"selected_items.0.quantity_um3pl": "5"}
