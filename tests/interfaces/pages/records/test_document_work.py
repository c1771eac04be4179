"""People work with documents on the pages: they create, change and move them, if they have the right."""

import html
import re
from typing import Any

import pytest

from tests.interfaces.pages.records.test_act import differing, form_of, sent, still_in
from tests.interfaces.pages.records.test_browse import signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.document_acts import WORK
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.kind import DocumentKind

ORDERS = "/companies/1/sales-orders"
PURCHASES = "/companies/1/purchase-orders"
RECEPTIONS = "/companies/1/receptions"
RETURNS = "/companies/1/returns"
OF_OFFICE = [
    *("articles:read", "partners:read", "warehouses:read", "sales-orders:read", "sales-orders:write"),
    *("purchase-orders:read", "purchase-orders:write", "receptions:read", "receptions:write"),
    *("returns:read", "returns:write", "stock:read"),
]

BY_OTHER_ACTS = {"counts": {("CREAT", "IN_LUCRU"), ("IN_LUCRU", "FINALIZAT")}}
"""The moves of a count that entering a quantity and booking cause."""


@pytest.fixture
async def office(shop: Shop) -> Visitor:
    """Sign in a member of the company who may read and write documents."""
    return await signed_in(shop.world, "ACME", abilities=OF_OFFICE)


def lines(*typed: tuple[str, str], name: str = "lines") -> dict[str, str]:
    """Return the fields of rows with an article and a quantity each."""
    return {
        f"{name}.{number}.{field}": value
        for number, row in enumerate(typed)
        for field, value in zip(("article_code", "quantity"), row, strict=True)
    }


def steps(seen: Seen) -> list[tuple[str, bool]]:
    """Return the buttons in the document's header, and whether each is enabled."""
    (header,) = re.findall(r'<div class="title">.*?</div>\s*(?=<div|<p class)', seen.text, re.DOTALL)
    buttons = re.findall(r'<(?:button|a) class="button[^>]*>[^<]*</', header.split("</details>")[1])
    return [(text_of(each + "a>"), " disabled" not in each) for each in buttons]


async def press(visitor: Visitor, record: str, name: str) -> Seen:
    """Press a button of the document that acts without a form."""
    page = await visitor.get(record)
    found = re.search(rf'<form method="post" action="{record}/{name}">(.*?)</form>', page.text, re.DOTALL)
    assert found, page.text
    fields = dict(re.findall(r'name="(.*?)" value="(.*?)"', found[1]))
    return await visitor.post(f"{record}/{name}", {key: html.unescape(each) for key, each in fields.items()})


async def document(visitor: Visitor, path: str) -> dict[str, Any]:
    return dict((await visitor.world.call("GET", f"/api/{path}")).body)


@pytest.mark.parametrize("kind", DOCUMENTS, ids=lambda kind: kind.name)
def test_every_move_of_a_kind_has_its_words(kind: DocumentKind) -> None:
    named = {(status, move.to) for move in WORK[kind.name].moves for status in move.statuses}
    assert named | BY_OTHER_ACTS.get(kind.name, set()) == set(kind.transitions.table)


@pytest.mark.parametrize("kind", DOCUMENTS, ids=lambda kind: kind.name)
def test_what_is_for_good_says_so_before_it_is_done(kind: DocumentKind) -> None:
    """An act that can be undone asks for no confirmation."""
    moves = WORK[kind.name].moves
    undone = {(move.to, status) for move in moves for status in move.statuses}
    for move in moves:
        assert (
            bool(move.says) != any((status, move.to) in undone for status in move.statuses) or move.name == "start"
        )


async def test_an_order_is_made_with_its_lines(office: Visitor, shop: Shop) -> None:
    typed = {"partner": "P1", "warehouse": "MAIN", "requested_date": "27.11.2026", "customer_reference": "PO-7788"}
    done = await sent(office, f"{ORDERS}/new", **typed, **lines(("A", "3"), ("B", "1,5")))
    assert (done.status, done.goes_to) == (303, f"{ORDERS}/1?done=new"), done.text
    made = await document(office, "sales-orders/1")
    assert [(line["article_code"], line["quantity"]) for line in made["lines"]] == [("A", 3), ("B", 1.5)]
    assert (made["partner_id"], made["requested_date"], made["customer_reference"]) == (1, "2026-11-27", "PO-7788")
    assert await shop.stock() == (20, 3, 17)
    assert "Sales order created." in (await office.get(done.goes_to)).text


async def test_rows_that_are_left_empty_are_no_lines(office: Visitor) -> None:
    typed = {"partner": "P1", "warehouse": "MAIN"}
    sparse = {"lines.0.article_code": "", "lines.3.article_code": "A", "lines.3.quantity": "1"}
    assert (await sent(office, f"{ORDERS}/new", **typed, **sparse)).status == 303
    assert len((await document(office, "sales-orders/1"))["lines"]) == 1


async def test_all_that_is_wrong_stands_at_its_field_at_once(office: Visitor, shop: Shop) -> None:
    typed = {"partner": "P1", "warehouse": "MAIN"}
    seen = await sent(office, f"{ORDERS}/new", **typed, **lines(("NONE", "1"), ("A", "21"), ("B", "x")))
    assert seen.status == 422
    assert 'id="lines.2.quantity-error"' in seen.text
    assert still_in(seen)["lines.0.article_code"] == "NONE"
    seen = await office.post(f"{ORDERS}/new", {**still_in(seen), "lines.2.quantity": "1"})
    wrong = dict(re.findall(r'<p class="error" id="(.*?)-error">(.*?)</p>', seen.text))
    assert wrong.keys() == {"lines.0.article_code", "lines.1.quantity"}
    assert await shop.stock() == (20, 0, 20)
    done = await office.post(
        f"{ORDERS}/new", {**still_in(seen), "lines.0.article_code": "A", "lines.1.quantity": "2"}
    )
    assert done.status == 303, done.text


async def test_a_form_that_comes_back_after_it_was_saved_says_so(office: Visitor) -> None:
    """The Back button brings the form back with its used idempotency key."""
    first = {
        **form_of(await office.get(f"{ORDERS}/new")),
        "partner": "P1",
        "warehouse": "MAIN",
        **lines(("A", "1")),
    }
    assert (await office.post(f"{ORDERS}/new", first)).goes_to == f"{ORDERS}/1?done=new"
    seen = await office.post(f"{ORDERS}/new", {**first, "lines.0.quantity": "2"})
    assert (seen.status, "wmsd already saved this form with other values" in seen.text) == (422, True)
    assert f'<a href="{ORDERS}/1">Show the saved values</a>' in seen.text
    assert still_in(seen)["lines.0.quantity"] == "2"
    assert (await office.post(f"{ORDERS}/new", still_in(seen))).goes_to == f"{ORDERS}/2?done=new"


async def test_a_change_that_comes_back_after_it_was_saved_says_so(office: Visitor, shop: Shop) -> None:
    await shop.order()
    first = {**form_of(await office.get(f"{ORDERS}/1/change")), "carrier": "First"}
    assert (await office.post(f"{ORDERS}/1/change", first)).status == 303
    seen = await office.post(f"{ORDERS}/1/change", {**first, "carrier": "Second"})
    assert f'<a href="{ORDERS}/1">Show the saved values</a>' in seen.text
    assert (await office.post(f"{ORDERS}/1/change", still_in(seen))).status == 303
    assert (await document(office, "sales-orders/1"))["carrier"] == "Second"


async def test_more_lines_without_a_script(office: Visitor) -> None:
    begun = {**form_of(await office.get(f"{ORDERS}/new")), "partner": "P1", **lines(("A", "1"))}
    seen = await office.post(f"{ORDERS}/new", {**begun, "more": "lines"})
    assert (seen.status, still_in(seen)["partner"], still_in(seen)["lines.0.article_code"]) == (200, "P1", "A")
    assert "lines.5.article_code" in still_in(seen)
    assert (await document(office, "sales-orders"))["data"] == []


async def test_a_form_takes_a_thousand_lines(office: Visitor) -> None:
    await office.world.import_csv("stock", "article_code,warehouse_code,quantity\nA,MAIN,2000\n")
    typed = {"partner": "P1", "warehouse": "MAIN"}
    done = await sent(office, f"{ORDERS}/new", **typed, **lines(*[("A", "1")] * 1000))
    assert done.status == 303, done.text
    assert len((await document(office, "sales-orders/1"))["lines"]) == 1000
    seen = await office.get(f"{ORDERS}/1/change")
    assert form_of(seen)["lines.999.article_code"] == "A"


async def test_what_differs_in_a_thousand_lines_is_found_by_few_questions(
    office: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line names a warehouse: a separate look-up for each would take seconds."""
    await office.world.import_csv("stock", "article_code,warehouse_code,quantity\nA,MAIN,2000\n")
    typed = {"partner": "P1", "warehouse": "MAIN"}
    await sent(office, f"{ORDERS}/new", **typed, **lines(*[("A", "1")] * 1000))
    form = form_of(await office.get(f"{ORDERS}/1/change"))
    assert (await office.world.send("PATCH", "/api/sales-orders/1", {"notes": "Theirs"})).status == 200
    asked: list[str] = []
    id_of = Workplace.id_of

    async def noted(at: Workplace, resource: Resource, code: str) -> int | None:
        asked.append(code)
        return await id_of(at, resource, code)

    monkeypatch.setattr(Workplace, "id_of", noted)
    seen = await office.post(f"{ORDERS}/1/change", {**form, "lines.999.quantity": "1.5"})
    assert (seen.status, len(asked) < 10) == (412, True), len(asked)
    found = text_of(seen.text[seen.text.index("Differences") :].partition("</table>")[0])
    assert "Notes Theirs" in found
    assert "Lines 1000: Quantity 1 1.5" in found
    assert "Lines 999" not in found
    assert still_in(seen)["lines.999.quantity"] == "1.5"


async def test_a_change_keeps_the_lines_that_nobody_touched(office: Visitor, shop: Shop) -> None:
    await shop.order({"article_id": 1, "quantity": 3}, {"article_id": 2, "quantity": 1})
    before = await document(office, "sales-orders/1")
    done = await sent(office, f"{ORDERS}/1/change", **{"lines.0.quantity": "4", "carrier": "Own truck"})
    assert done.goes_to == f"{ORDERS}/1?done=change", done.text
    after = await document(office, "sales-orders/1")
    assert [line["id"] for line in after["lines"]] == [line["id"] for line in before["lines"]]
    assert [line["quantity"] for line in after["lines"]] == [4, 1]
    assert after["carrier"] == "Own truck"


async def test_a_line_is_taken_away_by_emptying_it(office: Visitor, shop: Shop) -> None:
    await shop.order({"article_id": 1, "quantity": 3}, {"article_id": 2, "quantity": 1})
    emptied = {"lines.0.article_code": "", "lines.0.quantity": "", "lines.0.warehouse": ""}
    assert (await sent(office, f"{ORDERS}/1/change", **emptied)).status == 303
    assert [line["article_code"] for line in (await document(office, "sales-orders/1"))["lines"]] == ["B"]


async def test_two_people_at_one_order(office: Visitor, shop: Shop) -> None:
    await shop.order()
    fields = form_of(await office.get(f"{ORDERS}/1/change"))
    theirs = {"lines": [{"article_id": 1, "quantity": 5}], "carrier": "Theirs"}
    await shop.world.send("PATCH", "/api/sales-orders/1", theirs)
    seen = await office.post(f"{ORDERS}/1/change", {**fields, "lines.0.quantity": "7"})
    assert seen.status == 412
    assert differing(seen) == [["Carrier", "Theirs", "–"], ["Lines 1: Quantity", "5", "7"]]  # noqa: RUF001 -- as shown
    assert (await office.post(f"{ORDERS}/1/change", {**still_in(seen), "carrier": "Theirs"})).status == 303
    assert (await document(office, "sales-orders/1"))["lines"][0]["quantity"] == 7


async def test_frozen_lines_are_not_asked_for(office: Visitor, shop: Shop) -> None:
    await shop.order(status="IN_LUCRU")
    fields = form_of(await office.get(f"{ORDERS}/1/change"))
    assert not any(name.startswith(("lines", "ship_to")) for name in fields)
    assert (await sent(office, f"{ORDERS}/1/change", carrier="Own truck")).status == 303


async def test_an_order_goes_its_way_with_one_click_a_step(office: Visitor, shop: Shop) -> None:
    await shop.order()
    order = f"{ORDERS}/1"
    assert steps(await office.get(order)) == [("Change", True), ("Cancel order", True), ("Start work", True)]
    assert (await press(office, order, "start")).goes_to == f"{order}?done=start"
    assert (await press(office, order, "load")).goes_to == f"{order}?done=load"
    assert await shop.stock() == (17, 0, 17)
    asked = await office.get(f"{order}/deliver")
    assert "A delivered order stays delivered." in asked.text
    done = await sent(office, f"{order}/deliver")
    assert done.goes_to == f"{order}?done=deliver"
    assert (await document(office, "sales-orders/1"))["status"] == "LIVRAT"


async def test_a_step_is_undone(office: Visitor, shop: Shop) -> None:
    await shop.order(status="IN_LUCRU")
    order = f"{ORDERS}/1"
    loaded = await office.get((await press(office, order, "load")).goes_to)
    assert f'<form method="post" action="{order}/unload">' in loaded.text
    assert "Undo" in loaded.text
    await press(office, order, "unload")
    assert (await document(office, "sales-orders/1"))["status"] == "IN_LUCRU"
    assert await shop.stock() == (20, 3, 17)


async def test_a_double_click_moves_once(office: Visitor, shop: Shop) -> None:
    await shop.order()
    page = await office.get(f"{ORDERS}/1")
    (form,) = re.findall(rf'<form method="post" action="{ORDERS}/1/start">(.*?)</form>', page.text, re.DOTALL)
    fields = dict(re.findall(r'name="(.*?)" value="(.*?)"', form))
    fields["if_match"] = html.unescape(fields["if_match"])
    answers = [await office.post(f"{ORDERS}/1/start", fields) for _ in range(2)]
    assert [each.goes_to for each in answers] == [f"{ORDERS}/1?done=start"] * 2
    assert (await document(office, "sales-orders/1"))["status"] == "IN_LUCRU"


async def test_a_step_over_somebody_elses_change_is_not_taken(office: Visitor, shop: Shop) -> None:
    await shop.order()
    page = await office.get(f"{ORDERS}/1")
    (form,) = re.findall(rf'<form method="post" action="{ORDERS}/1/start">(.*?)</form>', page.text, re.DOTALL)
    fields = {name: html.unescape(each) for name, each in re.findall(r'name="(.*?)" value="(.*?)"', form)}
    await shop.world.send("PATCH", "/api/v2/sales-orders/1/status", {"status": "ANULAT"})
    done = await office.post(f"{ORDERS}/1/start", fields)
    seen = await office.get(done.goes_to)
    assert "This record was changed after you opened the page, so nothing was done." in seen.text
    assert steps(seen) == []


async def test_a_step_that_is_refused_says_in_words_where(office: Visitor, shop: Shop) -> None:
    await shop.order(status="LIVRAT")
    body = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": 1}], "sales_order_id": 1}
    returned = await shop.world.send("POST", "/api/returns", body)
    await shop.world.send("PATCH", f"/api/returns/{returned.id}", {"status": "RECEPTIONAT"})
    seen = await sent(office, f"{RETURNS}/1/finish")
    assert seen.status == 422
    assert "Lines 1: Disposition is required to finish a return" in text_of(seen.text)


async def test_who_may_only_read_sees_the_steps_and_why_not(shop: Shop) -> None:
    await shop.order()
    reader = await signed_in(shop.world, "ACME", abilities=["sales-orders:read"])
    seen = await reader.get(f"{ORDERS}/1")
    assert steps(seen) == [("Change", False), ("Cancel order", False), ("Start work", False)]
    (why,) = re.findall(r'id="why-not">(.*?)</p>', seen.text)
    assert why == "Change, Cancel order, Start work: You lack the ability sales-orders:write."
    for name in ("start", "cancel", "change"):
        assert (await reader.get(f"{ORDERS}/1/{name}")).status == 403
        fields = {"form_token": seen.form_token} if "form_token" in seen.text else {}
        assert (await reader.post(f"{ORDERS}/1/{name}", fields)).status == 403
    assert (await reader.get(f"{ORDERS}/new")).status == 403


async def test_where_the_work_stands(office: Visitor, shop: Shop) -> None:
    await shop.order(status="INCARCAT")
    seen = await office.get(f"{ORDERS}/1")
    (path,) = re.findall(r'<ol class="steps".*?</ol>', seen.text, re.DOTALL)
    assert re.findall(r'<li class="(.*?)".*?<b>(.*?)</b>', path) == [
        ("done", "Created"),
        ("done", "In work"),
        ("now", "Loaded"),
        ("to-come", "Delivered"),
    ]
    await shop.order(status="ANULAT")
    seen = await office.get(f"{ORDERS}/2")
    assert re.findall(r'<li class="(.*?)".*?<b>(.*?)</b>', seen.text) == [
        ("done", "Created"),
        ("now", "Cancelled"),
    ]


async def test_packaging_goes_along_when_an_order_is_loaded(shop: Shop) -> None:
    admin = await signed_in(shop.world)
    await shop.world.import_csv("packaging-types", "code,name\nEUR,Pallet\n")
    await shop.order(status="IN_LUCRU")
    await shop.order(status="IN_LUCRU")
    asked = await admin.get(f"{ORDERS}/1")
    assert f'<form method="post" action="{ORDERS}/1/load">' in asked.text
    eur = {"packaging.0.packaging_type_code": "EUR"}
    await sent(admin, f"{ORDERS}/1/load", **eur, **{"packaging.0.quantity": "4"})
    asked = await admin.get(f"{ORDERS}/2")
    assert f'href="{ORDERS}/2/load"' in asked.text
    done = await sent(admin, f"{ORDERS}/2/load", **eur, **{"packaging.0.quantity": "2"})
    assert done.goes_to == f"{ORDERS}/2?done=load", done.text
    balances = (await document(admin, "v2/packaging/balances"))["data"]
    assert [each["quantity"] for each in balances] == [6]


@pytest.mark.parametrize("typed", ["26.11.2026", "26/11/2026", "2026-11-26"])
async def test_a_date_is_typed_as_people_write_it(office: Visitor, typed: str) -> None:
    given = {"partner": "P1", "warehouse": "MAIN", "requested_date": typed}
    wrong = await sent(office, f"{ORDERS}/new", **given, **lines(("A", "many")))
    assert 'name="requested_date" aria-describedby="requested_date-help" value="26.11.2026"' in wrong.text
    done = await sent(office, f"{ORDERS}/new", **given, **lines(("A", "1")))
    assert done.status == 303
    assert (await document(office, "sales-orders/1"))["requested_date"] == "2026-11-26"


async def test_a_wrong_date_is_told_at_its_field_and_stays(office: Visitor) -> None:
    given = {"partner": "P1", "warehouse": "MAIN", "requested_date": "31.11.2026"}
    seen = await sent(office, f"{ORDERS}/new", **given, **lines(("A", "1")))
    assert "must be a date such as 2026-11-20" in seen.text
    (field,) = re.findall(r'<input id="requested_date".*?>', seen.text)
    assert 'value="31.11.2026"' in field
    assert 'type="date"' not in field, "a browser would show such a field empty"


async def test_what_a_person_may_not_read_stays_when_they_change_something_else(shop: Shop) -> None:
    await shop.world.import_csv("clients", "code,name\nC1,First client\n")
    await shop.order(client_id=1)
    abilities = ["sales-orders:read", "sales-orders:write"]
    member = await signed_in(shop.world, "ACME", abilities=abilities)
    seen = await sent(member, f"{ORDERS}/1/change", notes="By the side door")
    assert seen.status == 303, seen.text
    order = (await shop.world.call("GET", "/api/sales-orders/1")).body
    assert (order["client_id"], order["partner_id"], order["notes"]) == (1, 1, "By the side door")
    assert [line["quantity"] for line in order["lines"]] == [3]


async def test_a_form_with_more_lines_than_it_takes_is_refused_before_they_are_read(office: Visitor) -> None:
    form = form_of(await office.get(f"{ORDERS}/new"))
    rows_of_form = {f"lines.{number}.warehouse": f"Q{number}" for number in range(1001)}
    seen = await office.post(f"{ORDERS}/new", {**form, **rows_of_form})
    assert (
        seen.status,
        ("A form can have at most 1000 lines, but 1001 were sent. Send the other lines in another form.")
        in text_of(seen.text),
    ) == (
        422,
        True,
    )


async def test_what_cannot_be_read_and_what_cannot_be_found_are_told_at_once(office: Visitor) -> None:
    typed = {"partner": "NONE", "warehouse": "MAIN", "requested_date": "31.02.2027"}
    rows = lines(("A", "one"), ("NOWHERE", "1"), ("A", "1,000"), ("A", "0"))
    seen = await sent(office, f"{ORDERS}/new", **typed, **rows)
    assert seen.status == 422
    wrong = set(re.findall(r'id="([\w.]+)-error"', seen.text))
    assert wrong == {
        *("partner", "requested_date", "lines.0.quantity"),
        *("lines.1.article_code", "lines.2.quantity", "lines.3.quantity"),
    }
    assert still_in(seen)["lines.0.quantity"] == "one"
    assert (await document(office, "sales-orders"))["data"] == []


@pytest.mark.parametrize("quantity", ["one", "1,000", "1.000,00.0", "{}"])
async def test_a_number_that_cannot_be_read_changes_nothing(office: Visitor, shop: Shop, quantity: str) -> None:
    await shop.order()
    before = await document(office, "sales-orders/1")
    seen = await sent(office, f"{ORDERS}/1/change", carrier="DHL", **{"lines.0.quantity": quantity})
    assert seen.status == 422
    assert re.findall(r'id="([\w.]+)-error"', seen.text) == ["lines.0.quantity"]
    assert await document(office, "sales-orders/1") == before
