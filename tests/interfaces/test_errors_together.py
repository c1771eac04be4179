"""Errors of form and of reference come in one reply (decisions, section 8)."""

from collections.abc import Mapping
from typing import Any

import pytest
import pytest_asyncio

from tests.interfaces.test_bad_input import Stocked, open_stocked
from tests.interfaces.writing import ARTICLE, DOCUMENTS
from tests.support.world import ETSM, World

UNKNOWN = 999
LINES = {
    "/api/sales-orders": "lines",
    "/api/purchase-orders": "items",
    "/api/receptions": "selected_items",
    "/api/returns": "lines",
    "/api/v2/counts": "lines",
}
OF_FORM: Mapping[str, Any] = {"notes": 5, "nonsense": 1}
"""Fields of a wrong form that every document refuses."""
OF_REFERENCE: Mapping[str, Mapping[str, Any]] = {
    "/api/sales-orders": {"partner_id": UNKNOWN, "client_id": UNKNOWN, "external_ref": "OLD", "status": "ANULAT"},
    "/api/purchase-orders": {"partner_id": UNKNOWN, "external_ref": "OLD", "status": "ANULAT"},
    "/api/receptions": {"warehouse_id": UNKNOWN, "external_ref": "OLD", "status": "ANULAT"},
    "/api/returns": {"partner_id": UNKNOWN, "sales_order_id": UNKNOWN, "external_ref": "OLD", "status": "ANULAT"},
    "/api/v2/counts": {"warehouse_id": UNKNOWN, "external_ref": "OLD", "status": "ANULAT"},
}
WRONG_LINE: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "/api/sales-orders": ({"quantity": "x"}, {"article_id": UNKNOWN, "warehouse_id": UNKNOWN}),
    "/api/purchase-orders": ({"quantity": 0}, {"article_id": UNKNOWN}),
    "/api/receptions": ({"quantity_um3pl": None}, {"po_item_id": UNKNOWN}),
    "/api/returns": ({"serials": "x"}, {"article_code": "NONE", "article_id": None}),
    "/api/v2/counts": ({"counted_quantity": "x"}, {"article_id": UNKNOWN}),
}


@pytest_asyncio.fixture
async def stocked(world: World) -> Stocked:
    return await open_stocked(world)


def bodies(path: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return a body with errors of form only, one with errors of reference only, and one with both."""
    good: Mapping[str, Any] = DOCUMENTS[path]
    name = LINES[path]
    (line,) = good[name]
    bad_form, bad_reference = WRONG_LINE[path]
    form = {**good, **OF_FORM, name: [{**line, **bad_form}]}
    reference = {**good, **OF_REFERENCE[path], name: [{**line, **bad_reference}]}
    both = {**good, **OF_FORM, **OF_REFERENCE[path], name: [{**line, **bad_form, **bad_reference}]}
    return form, reference, both


@pytest.mark.parametrize(
    ("address", "path"), [*((path, path) for path in DOCUMENTS), ("/api/v2/sales-orders", "/api/sales-orders")]
)
async def test_a_new_document_is_told_all_its_errors(stocked: Stocked, address: str, path: str) -> None:
    form, reference, both = [await stocked.call("POST", address, body, status=422) for body in bodies(path)]
    assert set(form.errors).isdisjoint(reference.errors)
    assert len(reference.errors) >= len(OF_REFERENCE[path]) + 1
    assert both.errors == {**form.errors, **reference.errors}
    for name in ("code", "message", "details"):
        assert both.body.get(name) == reference.body.get(name), "the code that comes first among all"
    assert both.body["code"] == "EXTERNAL_REF_TAKEN"


OF_RULES: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, str]]] = {
    "/api/sales-orders": (
        {},
        {"quantity": 99},
        {"{line}.quantity": "is more than the available stock: 4 available, 99 requested"},
    ),
    "/api/returns": (
        {"sales_order_id": 1},
        {"serials": ["S", "S"]},
        {
            "sales_order_id": "is CREAT: only loaded goods can be returned",
            "{line}.serials": "must be empty: the article is not tracked by serials",
            "{line}.serials.1": "is given twice",
        },
    ),
}
"""Fields, a field of a line, and the expected errors by rules beyond form and reference."""


@pytest.mark.parametrize("path", OF_RULES)
async def test_errors_of_form_hide_none_of_stock_and_shipments(stocked: Stocked, path: str) -> None:
    fields, wrong, sentences = OF_RULES[path]
    document: Mapping[str, Any] = DOCUMENTS[path]
    bad = {**document["lines"][0], **wrong}

    def told(line: str) -> dict[str, list[str]]:
        return {name.format(line=line): [sentence] for name, sentence in sentences.items()}

    body = {**document, "external_ref": None, **fields}
    is_of_status = path == "/api/returns"  # of an order that is not loaded
    status, code = (409, "INVALID_STATUS") if is_of_status else (422, "VALIDATION_FAILED")
    alone = await stocked.call("POST", path, {**body, "lines": [bad]}, status=status)
    assert alone.errors == told("lines.0")
    lines = [{"quantity": "x"}, bad]
    beside = await stocked.call("POST", path, {**body, "notes": 5, "lines": lines}, status=status)
    assert beside.body["code"] == code
    assert {"notes", "lines.0.quantity"} <= set(beside.errors)
    assert {name: beside.errors[name] for name in told("lines.1")} == told("lines.1")
    for method in ("PUT", "PATCH"):
        changed = await stocked.call(method, f"{path}/1", {**body, "notes": 5, "lines": [bad]}, status=status)
        assert set(changed.errors) >= {"notes", *told("lines.0")}


@pytest.mark.parametrize("path", DOCUMENTS)
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_a_changed_document_is_told_all_its_errors(stocked: Stocked, path: str, method: str) -> None:
    body = {**bodies(path)[2], "external_ref": "OLD"}
    answer = await stocked.call(method, f"{path}/1", body, status=422)
    wrong = [name for name in OF_REFERENCE[path] if name not in ("external_ref", "status")]
    assert {*wrong, *OF_FORM} <= set(answer.errors)
    assert "external_ref" not in answer.errors, "its own is not another's"
    of_none = await stocked.call(method, f"{path}/{UNKNOWN}", body, status=422)
    assert set(of_none.errors).isdisjoint(wrong)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/articles"),
        ("PUT", "/api/articles/1"),
        ("PATCH", "/api/articles/1"),
        ("PATCH", "/api/articles/by-code/OLD"),
    ],
)
async def test_an_article_is_told_all_its_errors(stocked: Stocked, method: str, path: str) -> None:
    await stocked.world.send("POST", "/api/articles", {"code": "X", "name": "X", "external_ref": "X"})
    body = {**ARTICLE, "code": "X", "client_id": UNKNOWN, "external_ref": "X", "unit": 5}
    assert (await stocked.call(method, path, body, status=422)).errors == {
        "unit": ["must be a string"],
        "code": ["is taken by another article"],
        "external_ref": ["is taken by another article"],
        "client_id": ["is not a client of this company"],
    }
    own = await stocked.call("PATCH", "/api/articles/2", body, status=422)
    assert set(own.errors) == {"unit", "client_id"}


async def test_a_plan_is_told_all_its_errors(stocked: Stocked) -> None:
    packaging = [{"packaging_type_code": "NONE", "quantity": "x"}]
    body = {"transport_ecc": "T1", "order_codes": ["NONE", 5], "vehicle": 5, "packaging": packaging}
    answer = await stocked.call("POST", f"{ETSM}/transports", body, status=422)
    assert set(answer.errors) == {
        *("order_codes.0", "order_codes.1", "vehicle"),
        *("packaging.0.packaging_type_code", "packaging.0.quantity"),
    }
    assert answer.errors["order_codes.1"] == ["must be a string"]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ({"quantity": "x"}, {"lines.0.quantity", "lines.0.article_id"}),
        ({"quantity": 1, "article_code": 5}, {"lines.0.article_code"}),
        ({"quantity": 1, "article_id": "x"}, {"lines.0.article_id"}),
        ({"quantity": 1, "article_id": "x", "article_code": "OLD"}, {"lines.0.article_id"}),
        ({"quantity": 1, "article_id": 1, "article_code": "OTHER"}, {"lines.0.article_code"}),
        (5, {"lines.0"}),
        (None, {"lines.0"}),
    ],
)
async def test_a_malformed_reference_is_told_once(stocked: Stocked, line: Any, wrong: set[str]) -> None:
    body = {**DOCUMENTS["/api/sales-orders"], "notes": 5, "lines": [line]}
    assert set((await stocked.call("POST", "/api/sales-orders", body, status=422)).errors) == {*wrong, "notes"}


@pytest.mark.parametrize("lines", [5, None, {}, [], [{}] * 1001])
async def test_lines_that_are_none_hide_nothing_else(stocked: Stocked, lines: Any) -> None:
    body = {**DOCUMENTS["/api/sales-orders"], "partner_id": UNKNOWN, "lines": lines}
    answer = await stocked.call("POST", "/api/sales-orders", body, status=422)
    assert answer.errors["partner_id"] == ["is not a partner of this company"]
    assert "lines" in answer.errors


async def test_past_a_hundred_errors_of_form_no_others_are_looked_for(stocked: Stocked) -> None:
    lines = [{"quantity": "x", "article_id": UNKNOWN}] * 120
    body = {**DOCUMENTS["/api/sales-orders"], "partner_id": UNKNOWN, "lines": lines}
    answer = await stocked.call("POST", "/api/sales-orders", body, status=422)
    assert answer.errors[""] == ["has at least 20 more errors, which are not listed"]
    assert "partner_id" not in answer.errors


async def test_packaging_of_an_unknown_type_is_told_beside_a_wrong_form(stocked: Stocked) -> None:
    packaging = [{"packaging_type_code": "NONE", "quantity": 1}, {"packaging_type_id": 7, "quantity": "x"}, 5]
    answer = await stocked.call("PATCH", "/api/sales-orders/1", {"packaging": packaging}, status=422)
    assert set(answer.errors) == {
        *("packaging.0.packaging_type_code", "packaging.1.packaging_type_id"),
        *("packaging.1.quantity", "packaging.2"),
    }


async def test_another_company_learns_nothing_of_references(world: World) -> None:
    """The references are looked up in the requested company, after the checks of access."""
    await open_stocked(world)
    other = await world.new_company("OTHER")
    body = {**DOCUMENTS["/api/sales-orders"], "notes": 5}
    answer = await world.call("POST", "/api/sales-orders", body, company=other, status=422)
    assert answer.errors["partner_id"] == ["is not a partner of this company"]
