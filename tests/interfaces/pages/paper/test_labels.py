"""Labels: the requested number, each with a barcode that scanners read, on sheets and rolls of common sizes."""

import re
from time import monotonic

import pytest

from tests.interfaces.pages.records.test_browse import SCRIPT, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.drawn_barcodes import barcodes_in
from tests.support.shop import Shop
from wmsd.interfaces.pages.paper import label_kinds
from wmsd.interfaces.pages.paper.labels import SIZES

ARTICLE = "/companies/1/articles/1/labels"
ORDER = "/companies/1/sales-orders/1/labels"
RECEPTION = "/companies/1/receptions/1/labels"
GTIN = "5901234123457"
OF_OFFICE = ["articles", "partners", "sales-orders", "purchase-orders", "receptions", "stock"]


@pytest.fixture
async def office(shop: Shop) -> Visitor:
    return await signed_in(shop.world, "ACME", abilities=[f"{each}:read" for each in OF_OFFICE])


async def asked(visitor: Visitor, path: str, kind: str, count: str = "", size: str = "label-62x29") -> Seen:
    return await visitor.get(f"{path}?kind={kind}&size={size}&count={count}")


def labels(seen: Seen) -> list[str]:
    """Return the text of each label."""
    assert seen.status == 200, seen.text
    return [text_of(each) for each in re.findall(r'<article class="label">(.*?)</article>', seen.text, re.DOTALL)]


def scanned(seen: Seen) -> list[tuple[str, str]]:
    return [(each.text, str(each.format)) for each in barcodes_in(seen.text)]


async def change(shop: Shop, article: int, **fields: object) -> None:
    answer = await shop.world.send("PATCH", f"/api/articles/{article}", fields)
    assert answer.status == 200, answer.raw


async def receive(shop: Shop, article: str, **item: object) -> None:
    place = {"partner_id": 1, "warehouse_id": 1}
    items = [{"article_code": article, "quantity": 48}]
    bought = await shop.world.send("POST", "/api/purchase-orders", {**place, "items": items})
    selected = [{"po_item_id": bought.body["items"][0]["id"], **item}]
    body = {"purchase_order_id": 1, "warehouse_id": 1, "selected_items": selected, "status": "FINALIZAT"}
    answer = await shop.world.send("POST", "/api/receptions", body)
    assert answer.status == 201, answer.raw


def told(seen: Seen) -> str:
    """Return the error of the form."""
    assert seen.status == 422, seen.text
    (error,) = re.findall(r'<p class="error" id=".*?">(.*?)</p>', seen.text)
    return str(error)


async def test_an_article_is_labelled_by_its_code(office: Visitor) -> None:
    seen = await asked(office, ARTICLE, "article", "3")
    assert labels(seen) == ["A Alpha pcs A"] * 3
    assert scanned(seen) == [("A", "Code 128")] * 3


async def test_an_article_with_a_gtin_is_labelled_as_tills_read_it(shop: Shop, office: Visitor) -> None:
    await change(shop, 1, barcode="own 17", barcodes=[GTIN])
    assert scanned(await asked(office, ARTICLE, "article")) == [(GTIN, "EAN-13")]


async def test_each_line_of_a_reception_is_labelled_as_often_as_it_was_counted(
    shop: Shop, office: Visitor
) -> None:
    await change(shop, 1, unit_3pl="box", um3pl_factor=12)
    await receive(shop, "A", quantity_um3pl=2.5)
    assert labels(await asked(office, RECEPTION, "goods")) == ["A Alpha box A"] * 3
    assert len(labels(await asked(office, RECEPTION, "goods", "7"))) == 7


async def test_a_lot_is_labelled_by_gs1(shop: Shop, office: Visitor) -> None:
    await change(shop, 2, barcode=GTIN, track_lot=True)
    await receive(shop, "B", quantity_um3pl=1, lot_number="L-1")
    said = f"(01)0{GTIN}(10)L-1"
    seen = await asked(office, RECEPTION, "goods")
    assert labels(seen) == [f"B Beta pcs · Lot: L-1 {said}"]
    assert scanned(seen) == [(said, "Code 128")]
    assert (said, "Code 128") in scanned(await asked(office, "/companies/1/articles/2/labels", "lots"))


@pytest.mark.parametrize("lot", ["L[21]1", "Ș 1", "x" * 40])
async def test_a_lot_that_gs1_does_not_take_is_labelled_alone(shop: Shop, office: Visitor, lot: str) -> None:
    await change(shop, 2, barcode=GTIN, track_lot=True)
    await receive(shop, "B", quantity_um3pl=1, lot_number=lot)
    assert [text for text, _ in scanned(await asked(office, RECEPTION, "goods"))] == [lot]


async def test_each_serial_has_its_own_label(shop: Shop, office: Visitor) -> None:
    await change(shop, 3, track_serial=True, active=True, barcode=GTIN)
    await receive(shop, "OLD", quantity_um3pl=2, serial_data=["S1", "S2"])
    assert [text for text, _ in scanned(await asked(office, RECEPTION, "goods"))] == [
        f"(01)0{GTIN}(21)S1",
        f"(01)0{GTIN}(21)S2",
    ]


async def test_an_order_is_labelled_with_its_partner_and_reference(shop: Shop, office: Visitor) -> None:
    await shop.order(customer_reference="PO-7")
    assert labels(await asked(office, ORDER, "order")) == ["SO-000001 First PO-7 SO-000001"]


async def test_pallets_are_numbered(shop: Shop, office: Visitor) -> None:
    await shop.order()
    seen = await asked(office, ORDER, "pallets", "2")
    assert labels(seen) == ["SO-000001 First 1 / 2 SO-000001", "SO-000001 First 2 / 2 SO-000001"]


async def test_sheets_hold_24_labels_each(office: Visitor) -> None:
    seen = await asked(office, ARTICLE, "article", "30", "label-sheet")
    sheets = seen.text.split('<div class="sheet-of-labels">')[1:]
    assert [each.count('<article class="label">') for each in sheets] == [24, 6]


async def test_a_thousand_labels_open_at_once(shop: Shop, office: Visitor) -> None:
    """The labels are of many articles, and each article has a different barcode."""
    codes = [f"Ș-{number}" for number in range(250)]
    await shop.world.import_csv("articles", "code,name\n" + "".join(f"{each},Part\n" for each in codes))
    await shop.world.import_csv(
        "stock", "article_code,warehouse_code,quantity\n" + "".join(f"{each},MAIN,4\n" for each in codes)
    )
    await shop.order(*({"article_code": each, "quantity": 4} for each in codes))
    begin = monotonic()
    seen = await asked(office, ORDER, "goods")
    assert monotonic() - begin < 3
    assert len(labels(seen)) == 1000


@pytest.mark.parametrize(
    ("kind", "count", "says"),
    [
        ("article", "0", "Type a whole number from 1 to 1\u202f000."),
        ("article", "1001", "Type a whole number from 1 to 1\u202f000."),
        ("article", "9" * 300, "Type a whole number from 1 to 1\u202f000."),
        ("article", "٣", "Type a whole number from 1 to 1\u202f000."),
        ("article", "-1", "Type a whole number from 1 to 1\u202f000."),
        ("other", "1", "Choose what to print."),
        ("lots", "1", "No lot of this article is in stock."),
    ],
)
async def test_what_cannot_be_printed_is_told_at_the_form(
    office: Visitor, kind: str, count: str, says: str
) -> None:
    assert told(await asked(office, ARTICLE, kind, count)) == says


async def test_more_than_a_thousand_are_refused_with_their_number(shop: Shop, office: Visitor) -> None:
    await shop.world.import_csv("stock-count", "article_code,warehouse_code,quantity\nA,MAIN,5000\n")
    await shop.order({"article_id": 1, "quantity": 2000})
    assert told(await asked(office, ORDER, "goods")) == (
        "These settings give 2\u202f000 labels, but the limit is 1\u202f000. Type a smaller number."
    )


async def test_the_form_offers_every_size_and_what_there_is_of_the_record(office: Visitor) -> None:
    seen = await office.get(ARTICLE)
    assert re.findall(r'<option value="(.*?)"', seen.text) == ["article", "lots", *SIZES]
    assert f'href="{ARTICLE}"' in (await office.get("/companies/1/articles/1")).text


async def test_who_may_not_read_stock_prints_no_lots(shop: Shop) -> None:
    member = await signed_in(shop.world, "ACME", abilities=["articles:read"])
    assert told(await asked(member, ARTICLE, "lots")) == "Choose what to print."
    assert (await member.get(ORDER)).status == 403


async def test_nothing_else_has_labels(office: Visitor) -> None:
    assert (await office.get("/companies/1/partners/1/labels")).status == 404


async def test_what_people_type_stays_text(shop: Shop, office: Visitor) -> None:
    await change(shop, 1, name=SCRIPT, barcode=SCRIPT)
    seen = await asked(office, ARTICLE, "article")
    assert SCRIPT not in seen.text
    assert SCRIPT in labels(seen)[0]


STOCK = "/companies/1/stock/1/labels"


async def test_too_many_serials_are_refused_before_a_barcode_is_drawn(
    shop: Shop, office: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request for too many labels is refused before any barcode is drawn, so that nobody has to wait for the
    drawing.
    """
    serials = [f"S-{number}" for number in range(4)]
    await shop.world.import_csv("articles", "code,name,track_serial\nSER,Serials,true\n")
    counted = "".join(f"SER,MAIN,{each},1\n" for each in serials)
    await shop.world.import_csv("stock-count", f"article_code,warehouse_code,serial,quantity\n{counted}")
    (record,) = (await shop.world.call("GET", "/api/stock?article_code=SER")).body["data"]
    path = f"/companies/1/stock/{record['id']}/labels"
    assert len(labels(await asked(office, path, "serials"))) == 4
    monkeypatch.setattr(label_kinds, "MOST_LABELS", 3)
    monkeypatch.setattr(label_kinds, "_part_label", None)
    assert told(await asked(office, path, "serials")).startswith("These settings give 4 labels,")


async def test_a_stock_record_has_labels_of_its_article_its_lots_and_its_serials(
    shop: Shop, office: Visitor
) -> None:
    await shop.world.import_csv(
        "articles", "code,name,track_lot,track_serial\nLOT,Lots,true,\nSER,Serials,,true\n"
    )
    counted = "LOT,MAIN,L-1,,4\nLOT,MAIN,L-2,,1\nLOT,EAST,L-3,,1\nSER,MAIN,,S-1,1\n"
    await shop.world.import_csv(
        "stock-count", f"article_code,warehouse_code,lot_number,serial,quantity\n{counted}"
    )
    assert scanned(await asked(office, STOCK, "article", "2")) == [("A", "Code 128")] * 2
    of_lot, of_serial = (f"/companies/1/stock/{number}/labels" for number in (4, 6))
    assert labels(await asked(office, of_lot, "lots")) == [
        "LOT Lots pcs · Lot: L-1 L-1",
        "LOT Lots pcs · Lot: L-2 L-2",
    ]
    assert labels(await asked(office, of_serial, "serials")) == ["SER Serials pcs · Serial: S-1 S-1"]
    assert told(await asked(office, STOCK, "lots")) == "This stock record has no lots."
    assert f'href="{STOCK}"' in (await office.get("/companies/1/stock/1")).text


@pytest.mark.parametrize(("resource", "codes"), [("stock", ["A", "A"]), ("articles", ["A", "OLD"])])
async def test_labels_of_what_is_ticked_are_printed_together(
    office: Visitor, resource: str, codes: list[str]
) -> None:
    path = f"/companies/1/{resource}"
    seen = await office.get(path)
    assert f'formaction="{path}/labels"' in seen.text
    ticked = {"form_token": seen.form_token, "record.3": "x", "record.1": "y"}
    chosen = await office.post(f"{path}/labels", ticked)
    assert (chosen.status, chosen.goes_to) == (303, f"{path}/labels?ids=3,1")
    form = await office.get(chosen.goes_to)
    assert "2 records" in form.text
    assert '<input type="hidden" name="ids" value="3,1">' in form.text
    printed = await office.get(f"{path}/labels?ids=3,1&kind=article&size=label-62x29&count=")
    assert sorted(text for text, _ in scanned(printed)) == codes
    assert f'href="{path}/labels?ids=3,1"' in printed.text


async def test_nothing_ticked_or_too_much_leads_back_to_the_list(office: Visitor) -> None:
    for ids in ("", "x", "999", ",".join(map(str, range(1, 52)))):
        assert (await office.get(f"/companies/1/stock/labels?ids={ids}")).goes_to == "/companies/1/stock"


async def test_only_articles_and_stock_are_ticked_for_labels(office: Visitor) -> None:
    assert (await office.get("/companies/1/partners/labels?ids=1")).status == 404
    assert (await office.get("/companies/1/sales-orders/labels?ids=1")).status == 404
    assert (await office.get("/companies/1/stock/999/labels")).status == 404


async def test_who_may_not_read_articles_prints_what_the_stock_record_says(shop: Shop) -> None:
    member = await signed_in(shop.world, "ACME", abilities=["stock:read"])
    assert labels(await asked(member, STOCK, "article")) == ["A Alpha A"]
