"""Documents on paper contain what the goods, the driver and the partner need, for every user who may read the
document.
"""

import re

import pytest

from tests.interfaces.pages.records.test_browse import SCRIPT, rows, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.drawn_barcodes import barcodes_in
from tests.support.shop import Shop
from wmsd.interfaces.pages.paper.prints import PRINTS
from wmsd.warehouse.document_kinds import DOCUMENTS

ORDER = "/companies/1/sales-orders/1"
ALL = [f"{each}:read" for each in ("articles", "partners", "warehouses", "sales-orders", "purchase-orders")]
PLACE = {"partner_id": 1, "warehouse_id": 1}


@pytest.fixture
async def office(shop: Shop) -> Visitor:
    return await signed_in(shop.world, "ACME", abilities=[*ALL, "receptions:read", "returns:read"])


def facts(seen: Seen) -> dict[str, str]:
    found = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", seen.text, re.DOTALL)
    return {name: text_of(value) for name, value in found}


def signed_by(seen: Seen) -> list[str]:
    (places,) = re.findall(r'<div class="signatures">(.*?)</div>', seen.text)
    return re.findall(r"<p>(.*?)<span>", places)


async def test_a_delivery_note_goes_with_the_goods(shop: Shop, office: Visitor) -> None:
    ship_to = {"name": "Depot", "street": "Dock 4", "city": "Cluj", "postal_code": "400001"}
    lines = {"article_id": 2, "quantity": 1.5}, {"article_id": 1, "quantity": 3}
    await shop.order(*lines, customer_reference="PO-7", ship_to=ship_to, notes="Ring twice.")
    seen = await office.get(f"{ORDER}/prints/delivery-note")
    assert seen.heading == "Delivery note SO-000001"
    assert rows(seen) == [["B", "Beta", "1.5 pcs"], ["A", "Alpha", "3 pcs"]]
    assert facts(seen) == {
        "Partner": "First P1",
        "Ship to": "Depot Dock 4, 400001 Cluj",
        "Warehouse": "MAIN Main",
        "Customer reference": "PO-7",
        "Notes": "Ring twice.",
    }
    assert signed_by(seen) == ["Handed over by", "Received by"]


async def test_bars_and_a_square_say_the_code_of_the_document(shop: Shop, office: Visitor) -> None:
    await shop.order()
    found = barcodes_in((await office.get(f"{ORDER}/prints/delivery-note")).text)
    assert [(each.text, str(each.format)) for each in found] == [
        ("SO-000001", "Code 128"),
        ("SO-000001", "QR Code"),
    ]


async def test_a_pick_list_leads_from_warehouse_to_warehouse_and_shelf_to_shelf(
    shop: Shop, office: Visitor
) -> None:
    await shop.order(
        {"article_id": 2, "quantity": 1},
        {"article_id": 1, "quantity": 3},
        {"article_id": 1, "quantity": 2, "warehouse_id": 2},
    )
    seen = await office.get(f"{ORDER}/prints/pick-list")
    assert [text_of(each) for each in re.findall(r"<h2>.*?</h2>", seen.text)] == ["East EAST", "Main MAIN"]
    tables = [rows(Seen(200, {}, each)) for each in seen.text.split("<h2>")[1:]]
    assert tables == [[["", "A", "Alpha", "2 pcs"]], [["", "A", "Alpha", "3 pcs"], ["", "B", "Beta", "1 pcs"]]]


async def test_a_goods_received_note_says_what_was_counted_and_what_that_is(shop: Shop, office: Visitor) -> None:
    change = {"unit_3pl": "box", "um3pl_factor": 12, "track_lot": True}
    assert (await shop.world.send("PATCH", "/api/articles/2", change)).status == 200
    items = [{"article_code": "B", "quantity": 48}]
    bought = await shop.world.send("POST", "/api/purchase-orders", {**PLACE, "items": items})
    selected = [{"po_item_id": bought.body["items"][0]["id"], "quantity_um3pl": 2, "lot_number": "L-1"}]
    body = {"purchase_order_id": 1, "warehouse_id": 1, "selected_items": selected}
    assert (await shop.world.send("POST", "/api/receptions", body)).status == 201
    note = "/companies/1/receptions/1/prints/goods-received-note"
    assert rows(await office.get(note)) == [["B", "Beta", "2 box", "L-1"]]
    assert (await shop.world.send("PATCH", "/api/receptions/1", {"status": "FINALIZAT"})).status == 200
    seen = await office.get(note)
    assert rows(seen) == [["B", "Beta", "2 box = 24 pcs", "L-1"]]
    assert facts(seen)["Partner"] == "First P1"


async def test_a_return_slip_says_what_becomes_of_each_line(shop: Shop, office: Visitor) -> None:
    lines = [{"article_id": 1, "quantity": 2, "disposition": "CARANTINA"}]
    body = {**PLACE, "reason": "Broken", "lines": lines}
    assert (await shop.world.send("POST", "/api/returns", body)).status == 201
    seen = await office.get("/companies/1/returns/1/prints/return-slip")
    assert rows(seen) == [["A", "Alpha", "2 pcs", "Quarantine"]]
    assert facts(seen)["Reason"] == "Broken"


async def test_the_document_leads_to_its_prints(shop: Shop, office: Visitor) -> None:
    await shop.order()
    links = re.findall(r'<li><a href="(.*?)">(.*?)</a>', (await office.get(ORDER)).text)
    assert links == [
        (f"{ORDER}/prints/delivery-note", "Delivery note"),
        (f"{ORDER}/prints/pick-list", "Pick list"),
        (f"{ORDER}/labels", "Labels"),
    ]


async def test_who_may_not_read_the_document_prints_none(shop: Shop) -> None:
    await shop.order()
    member = await signed_in(shop.world, "ACME", abilities=["articles:read"])
    assert (await member.get(f"{ORDER}/prints/delivery-note")).status == 403


async def test_who_may_read_the_document_alone_prints_codes(shop: Shop) -> None:
    await shop.order()
    member = await signed_in(shop.world, "ACME", abilities=["sales-orders:read"])
    seen = await member.get(f"{ORDER}/prints/pick-list")
    assert rows(seen) == [["", "A", "", "3"]]
    assert "Partner" not in facts(seen)


@pytest.mark.parametrize(
    "path",
    ["sales-orders/1/prints/return-slip", "articles/1/prints/delivery-note", "sales-orders/9/prints/pick-list"],
)
async def test_there_is_no_print_of_anything_else(shop: Shop, office: Visitor, path: str) -> None:
    await shop.order()
    assert (await office.get(f"/companies/1/{path}")).status == 404


async def test_what_people_type_stays_text(shop: Shop, office: Visitor) -> None:
    await shop.order(code=SCRIPT, notes=SCRIPT, ship_to={"name": SCRIPT})
    seen = await office.get(f"{ORDER}/prints/delivery-note")
    assert SCRIPT not in seen.text
    assert [each.text for each in barcodes_in(seen.text)] == [SCRIPT, SCRIPT]


def test_prints_are_of_kinds_of_documents_and_of_their_fields() -> None:
    kinds = {kind.name: kind for kind in DOCUMENTS}
    for name, prints in PRINTS.items():
        for each in prints:
            assert set(each.facts) <= kinds[name].table.shown.model_fields.keys()


LOTS = "article_code,warehouse_code,lot_number,serial,quantity,quarantined\n"


async def tracked(shop: Shop) -> None:
    """Import article 4 (LOT) with 4 of the lot L-OLD and 10 of L-NEW, and article 5 (SER) with two serials."""
    await shop.world.import_csv(
        "articles", "code,name,track_lot,track_serial\nLOT,Lots,true,\nSER,Serials,,true\n"
    )
    counted = "LOT,MAIN,L-OLD,,4,\nLOT,MAIN,L-NEW,,10,\nSER,MAIN,,S-1,1,\nSER,MAIN,,S-2,1,\n"
    await shop.world.import_csv("stock-count", LOTS + counted)


async def test_a_delivery_note_names_the_lots_and_serials_that_have_left(shop: Shop) -> None:
    """The note includes parts that were chosen during the loading, and names no parts before the loading."""
    await tracked(shop)
    lines = (
        {"article_code": "LOT", "quantity": 6},
        {"article_code": "SER", "quantity": 2, "serials": ["S-1", "S-2"]},
        {"article_id": 1, "quantity": 3},
    )
    await shop.order(*lines, status="IN_LUCRU")
    office = await signed_in(shop.world, "ACME", abilities=[*ALL, "stock:read"])
    note = f"{ORDER}/prints/delivery-note"
    before = [
        ["LOT", "Lots", "6 pcs", ""],
        ["SER", "Serials", "2 pcs", "S-1, S-2"],
        ["A", "Alpha", "3 pcs", ""],
    ]
    assert rows(await office.get(note)) == before
    for status in ("INCARCAT", "LIVRAT"):
        path = "/api/v2/sales-orders/1/status"
        assert (await shop.world.send("PATCH", path, {"status": status})).status == 200
        assert rows(await office.get(note)) == [
            ["LOT", "Lots", "4 pcs", "L-OLD", ""],
            ["LOT", "Lots", "2 pcs", "L-NEW", ""],
            ["SER", "Serials", "2 pcs", "", "S-1, S-2"],
            ["A", "Alpha", "3 pcs", "", ""],
        ]


async def test_goods_that_came_back_are_on_no_delivery_note(shop: Shop) -> None:
    await tracked(shop)
    await shop.order({"article_code": "LOT", "quantity": 6}, status="INCARCAT")
    office = await signed_in(shop.world, "ACME", abilities=[*ALL, "stock:read"])
    for status in ("IN_LUCRU", "INCARCAT"):
        path = "/api/v2/sales-orders/1/status"
        assert (await shop.world.send("PATCH", path, {"status": status})).status == 200
    found = rows(await office.get(f"{ORDER}/prints/delivery-note"))
    assert [cells[2:] for cells in found] == [["4 pcs", "L-OLD"], ["2 pcs", "L-NEW"]]


async def test_who_may_not_read_stock_sees_no_lots_that_the_order_does_not_name(
    shop: Shop, office: Visitor
) -> None:
    await tracked(shop)
    await shop.order({"article_code": "LOT", "quantity": 6}, status="INCARCAT")
    assert rows(await office.get(f"{ORDER}/prints/delivery-note")) == [["LOT", "Lots", "6 pcs"]]
