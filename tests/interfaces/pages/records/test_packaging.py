"""Packaging on the pages: a balance leads to its movements, and a movement to the document that caused it."""

import csv
import html
import io
import re

import pytest

from tests.interfaces.pages.administering import LEAD, errors, signed_in_as
from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.records.test_browse import EMAIL, NOTHING, first_cells, rows, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop
from tests.support.world import PASSWORD
from wmsd.warehouse.packaging.packaging_ledger import Document, Movement, record_movement

PLACE = "/companies/1"
MOVEMENTS = f"{PLACE}/packaging-movements"
TYPES = f"{PLACE}/packaging-types"


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    """Move 4 EUR to P1 by an order, 2 EUR to P2 by a transport, and a CRATE to P1 by a file."""
    world = shop.world
    await world.import_csv("packaging-types", "code,name\nEUR,Euro pallet\nCRATE,Crate\n")
    order = await shop.order(status="IN_LUCRU")
    loaded = {"status": "INCARCAT", "packaging": [{"packaging_type_code": "EUR", "quantity": 4}]}
    answer = await world.send("PATCH", f"/api/v2/sales-orders/{order.id}/status", loaded)
    assert answer.status == 200, answer.raw
    moved = Movement(packaging_type_id=1, partner_id=2, direction="OUT", quantity=2_000_000)
    await (await world.database()).write(lambda tx: record_movement(tx, moved, Document("transport", 7)))
    header = "packaging_type_code,partner_code,direction,quantity,notes\n"
    await world.import_csv("packaging-movements", f"{header}CRATE,P1,OUT,1,<b>by hand</b>\n")
    return await signed_in(world)


def leading(seen: Seen, text: str) -> str:
    """Return the address of the link with this text."""
    found = re.findall(rf'<a href="([^"]*)">(?:<span>)?{re.escape(text)}(?:</span>)?</a>', seen.text)
    (address,) = set(found)
    return html.unescape(address)


async def test_a_balance_leads_to_its_movements(visitor: Visitor) -> None:
    seen = await visitor.get(f"{PLACE}/packaging")
    assert [cells[:4] for cells in rows(seen)] == [
        ["EUR", "Euro pallet", "P1 First", "4"],
        ["EUR", "Euro pallet", "P2 Second", "2"],
        ["CRATE", "Crate", "P1 First", "1"],
    ]
    address = leading(seen, "4")
    assert address == f"{MOVEMENTS}?packaging_type_code=EUR&partner=P1"
    narrowed = await visitor.get(address)
    assert first_cells(narrowed) == ["PM-000001"]
    assert re.search(r'name="partner" value="P1"', narrowed.text)


async def test_who_sees_no_partners_is_led_to_the_same_movements(visitor: Visitor) -> None:
    world = visitor.world
    await world.new_user("m@example.com", "member", ["ACME"], ["stock:read"])
    member = Visitor(world)
    await member.sign_in("m@example.com", PASSWORD)
    await world.set_module("ACME", "outbound", False)
    seen = await member.get(f"{PLACE}/packaging")
    assert first_cells(await member.get(leading(seen, "2"))) == ["PM-000002"]


async def test_movements_are_narrowed_by_the_code_of_the_type(visitor: Visitor) -> None:
    assert first_cells(await visitor.get(f"{MOVEMENTS}?packaging_type_code=CRATE")) == ["PM-000003"]
    assert first_cells(await visitor.get(f"{MOVEMENTS}?packaging_type_code=EUR")) == ["PM-000001", "PM-000002"]
    assert first_cells(await visitor.get(f"{MOVEMENTS}?packaging_type_code=NONE")) == []
    file = await visitor.get(f"{MOVEMENTS}.csv?packaging_type_code=CRATE")
    assert [each["code"] for each in csv.DictReader(io.StringIO(file.text))] == ["PM-000003"]


async def test_a_movement_shows_the_document_that_caused_it_and_by_whom(visitor: Visitor) -> None:
    seen = await visitor.get(MOVEMENTS)
    assert [cells[6:] for cells in rows(seen)] == [
        ["SO-000001", "admin@example.com (test)", NOTHING],
        ["Transport 7", "wmsd", NOTHING],
        [NOTHING, "wmsd", "<b>by hand</b>"],
    ]
    assert (await visitor.get(leading(seen, "SO-000001"))).heading == "SO-000001"


async def test_who_may_not_read_the_document_sees_its_id_alone(visitor: Visitor) -> None:
    world = visitor.world
    await world.new_user("m@example.com", "member", ["ACME"], ["stock:read"])
    member = Visitor(world)
    await member.sign_in("m@example.com", PASSWORD)
    seen = await member.get(MOVEMENTS)
    assert [cells[6] for cells in rows(seen)] == ["Sales order 1", "Transport 7", NOTHING]
    assert "/sales-orders/1" not in seen.text


async def test_a_type_is_made_changed_and_shown_with_what_there_is_of_it(visitor: Visitor) -> None:
    made = await sent(visitor, f"{TYPES}/new", code="KEG", name="Keg")
    assert (made.status, made.goes_to) == (303, f"{TYPES}/3?done=new")
    empty = await visitor.get(made.goes_to)
    assert "Packaging type created." in empty.text
    assert empty.text.count("No records yet.") == 2
    assert (await sent(visitor, f"{TYPES}/1/change", code="EPAL")).status == 303
    seen = await visitor.get(f"{TYPES}/1")
    tables = re.findall(r"<tbody>(.*?)</tbody>", seen.text, re.DOTALL)
    balances, moved = ([text_of(row) for row in re.findall(r"<tr>.*?</tr>", each, re.DOTALL)] for each in tables)
    assert [each.split(" ")[:3] for each in balances] == [["P1", "First", "4"], ["P2", "Second", "2"]]
    assert [each.split(" ")[0] for each in moved] == ["PM-000001", "PM-000002"]
    assert f'<a href="{MOVEMENTS}?packaging_type_code=EPAL">All</a>' in seen.text
    assert (await visitor.world.call("GET", "/api/v2/packaging/types")).body["data"][0]["code"] == "EPAL"


@pytest.mark.parametrize(("act", "typed"), [("new", {"name": "x"}), ("1/change", {})])
async def test_a_code_is_given_once(visitor: Visitor, act: str, typed: dict[str, str]) -> None:
    refused = await sent(visitor, f"{TYPES}/{act}", code="CRATE", **typed)
    assert await errors(refused) == ["Code is taken by another packaging type."]
    assert first_cells(await visitor.get(TYPES)) == ["EUR", "CRATE"]


async def test_only_admins_make_and_change_types(visitor: Visitor) -> None:
    world = visitor.world
    await world.new_user("m@example.com", "member", ["ACME"], ["*"])
    await world.new_user(LEAD, "company-admin", ["ACME"])
    member, lead = await signed_in_as(world, "m@example.com"), await signed_in_as(world, LEAD)
    assert (await sent(lead, f"{TYPES}/new", code="KEG", name="Keg")).status == 303
    seen = await member.get(f"{TYPES}/1")
    assert (seen.status, f"{TYPES}/1/change" in seen.text, "Change history" in seen.text) == (200, False, False)
    token = {"form_token": seen.form_token, "code": "X", "name": "X"}
    for act in ("new", "1/change"):
        assert (await member.post(f"{TYPES}/{act}", token)).status == 403
    assert first_cells(await member.get(TYPES)) == ["EUR", "CRATE", "KEG"]
    await world.set_module("ACME", "stock", False)
    assert (await lead.get(f"{TYPES}/1")).status == 403


async def test_in_romanian(visitor: Visitor) -> None:
    romanian = {"Accept-Language": "ro"}
    seen = await visitor.get(MOVEMENTS, romanian)
    assert (seen.heading, rows(seen)[1][6]) == ("Mișcări de ambalaje", "Transport 7")
    assert ">Document</th>" in seen.text
    one = await visitor.get(f"{TYPES}/1", romanian)
    assert "Tipuri de ambalaje" in one.text
    refused = await visitor.post(
        f"{TYPES}/new", {"form_token": one.form_token, "code": "EUR", "name": "x"}, romanian
    )
    assert "este folosit de alt tip de ambalaj" in refused.text
    assert EMAIL in refused.text


BY_HAND = {"packaging_type_code": "CRATE", "partner_code": "P2", "direction": "IN", "quantity": "3"}


async def test_a_movement_is_recorded_by_hand(visitor: Visitor) -> None:
    done = await sent(visitor, f"{MOVEMENTS}/new", **BY_HAND, notes="Left at the gate")
    assert done.goes_to == f"{MOVEMENTS}?done=new", done.text
    seen = await visitor.get(done.goes_to)
    assert "The movement is recorded." in seen.text
    assert rows(seen)[-1][1:5] == ["CRATE", "P2 Second", "In, from the partner", "3"]
    balances = [cells[:4] for cells in rows(await visitor.get(f"{PLACE}/packaging"))]
    assert ["CRATE", "Crate", "P2 Second", "-3"] in balances


async def test_what_is_wrong_with_a_movement_is_told_at_its_fields(visitor: Visitor) -> None:
    wrong = {"packaging_type_code": "NONE", "partner_code": "NOBODY", "direction": "OUT", "quantity": "0"}
    seen = await sent(visitor, f"{MOVEMENTS}/new", **wrong)
    assert re.findall('class="error" id="(.*?)-error"', seen.text) == ["quantity"]
    seen = await sent(visitor, f"{MOVEMENTS}/new", **{**wrong, "quantity": "1"})
    assert re.findall('class="error" id="(.*?)-error"', seen.text) == ["packaging_type_code", "partner_code"]


async def test_who_may_only_read_records_no_movement(visitor: Visitor) -> None:
    await visitor.world.new_user("m@example.com", "member", ["ACME"], ["stock:read"])
    reader = await signed_in_as(visitor.world, "m@example.com")
    seen = await reader.get(MOVEMENTS)
    assert f"{MOVEMENTS}/new" not in seen.text
    assert (await reader.post(f"{MOVEMENTS}/new", {"form_token": seen.form_token, **BY_HAND})).status == 403


async def test_the_time_of_a_movement_is_typed_by_local_clocks(visitor: Visitor) -> None:
    await sent(visitor, "/admin/companies/1/time-zone", time_zone="Europe/Bucharest")
    for typed in ("2026-11-19T10:00", "19.11.2026", "2026-11-19T10:00+00:00"):
        done = await sent(visitor, f"{MOVEMENTS}/new", **BY_HAND, occurred_at=typed)
        assert done.status == 303, done.text
    recorded = await visitor.world.rows("SELECT occurred_at FROM packaging_movements ORDER BY id DESC LIMIT 3")
    assert recorded == [
        ("2026-11-19T10:00:00.000Z",),
        ("2026-11-18T22:00:00.000Z",),
        ("2026-11-19T08:00:00.000Z",),
    ]
    refused = await sent(visitor, f"{MOVEMENTS}/new", **BY_HAND, occurred_at="yesterday")
    assert re.findall('class="error" id="(.*?)-error"', refused.text) == ["occurred_at"]
