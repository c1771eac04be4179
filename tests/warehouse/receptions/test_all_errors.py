"""All errors of a reception come in one reply: errors of its form, of its references, and of the remaining
quantities of its order (decisions, section 10).
"""

from typing import Any

import pytest

from tests.support.dock import LOT, SERIAL, THIRD, A, Dock, arrival

PATH = "/api/receptions"
OVER = "is more than the order still allows: you entered 11, and 10 of 10 can still be received"
OF_ITEMS = {
    "selected_items.0.quantity_um3pl": [OVER],
    "selected_items.1.lot_number": ["is required: the article is tracked by lots"],
    "selected_items.2.serial_data": ["must have one serial for each unit (units arrived: 2, serials given: 3)"],
    "selected_items.2.serial_data.1": ["is in stock already"],
    "selected_items.2.serial_data.2": ["is given twice"],
    "selected_items.3.quantity_um3pl": [
        "is not possible: the quantity times 0.333333 (the um3pl_factor of THIRD) has more than 6 decimal places"
    ],
    "selected_items.4.po_item_id": ["is not an item of purchase order PO-000002"],
}
ITEMS: tuple[dict[str, Any], ...] = (
    {"po_item_id": 2, "quantity_um3pl": 11},
    {"po_item_id": 3, "quantity_um3pl": 1},
    {"po_item_id": 4, "quantity_um3pl": 2, "serial_data": ["S2", "S1", "S2"]},
    {"po_item_id": 5, "quantity_um3pl": 0.1},
    {"po_item_id": 1, "quantity_um3pl": 1},
)
LONG: dict[str, Any] = {"transport_ecc": "x" * 65}
OF_LONG = {"transport_ecc": ["must have at most 64 characters"]}
GIVEN = [{"packaging_type_id": 1, "quantity": 1}]


async def wrong(dock: Dock) -> dict[str, Any]:
    """Return a body with a valid form in which each item is wrong."""
    await dock.bring(SERIAL, {"quantity_um3pl": 1, "serial_data": ["S1"]})
    return arrival(await dock.purchase((A, 10), (LOT, 10), (SERIAL, 10), (THIRD, 10)), *ITEMS)


async def errors_of(
    dock: Dock, body: dict[str, Any], method: str = "POST", path: str = PATH
) -> dict[str, list[str]]:
    answer = await dock.world.call(method, path, body, status=422)
    assert answer.body["code"] == "VALIDATION_FAILED"
    errors: dict[str, list[str]] = answer.errors
    return errors


async def test_errors_of_form_hide_no_error_of_an_item(dock: Dock) -> None:
    body = await wrong(dock)
    assert await errors_of(dock, body) == OF_ITEMS
    assert await errors_of(dock, {**body, **LONG}) == {**OF_LONG, **OF_ITEMS}
    more = [*body["selected_items"], {}, {"po_item_id": 2, "quantity_um3pl": -1}, 5]
    assert await errors_of(dock, {**body, "selected_items": more}) == {
        **OF_ITEMS,
        "selected_items.5.po_item_id": ["is required"],
        "selected_items.5.quantity_um3pl": ["is required"],
        "selected_items.6.quantity_um3pl": ["must be greater than 0"],
        "selected_items.7": ["must be an object"],
    }


async def test_of_an_item_of_wrong_form_all_else_is_told(dock: Dock) -> None:
    order = await dock.purchase((LOT, 10), (SERIAL, 10), (SERIAL, 10), (A, 10))
    items: list[dict[str, Any]] = [
        {"po_item_id": 1, "quantity_um3pl": "x"},
        {"po_item_id": 2, "quantity_um3pl": 0, "serial_data": ["S1", "S1"]},
        {"po_item_id": 3, "quantity_um3pl": 3, "serial_data": ["S3", 5, {}, {}]},
        {"po_item_id": 4, "quantity_um3pl": 11, "serial_data": 5, "lot_number": 5},
    ]
    assert await errors_of(dock, arrival(order, *items)) == {
        "selected_items.0.quantity_um3pl": ["must be a number"],
        "selected_items.0.lot_number": ["is required: the article is tracked by lots"],
        "selected_items.1.quantity_um3pl": ["must be greater than 0"],
        "selected_items.1.serial_data.1": ["is given twice"],
        "selected_items.2.serial_data": [
            "must have one serial for each unit (units arrived: 3, serials given: 4)"
        ],
        "selected_items.2.serial_data.1": ["must be a string"],
        "selected_items.3.quantity_um3pl": [OVER],
        "selected_items.3.serial_data": ["must be an array"],
        "selected_items.3.lot_number": ["must be a string"],
    }


@pytest.mark.parametrize("form", [{}, LONG])
async def test_errors_of_the_whole_come_with_those_of_its_items(dock: Dock, form: dict[str, Any]) -> None:
    body = {**await wrong(dock), **form, "status": "ANULAT", "packaging": GIVEN}
    assert await errors_of(dock, body) == {
        **(OF_LONG if form else {}),
        "status": ["must be CREAT, or FINALIZAT to post the reception immediately"],
        "packaging": ["is allowed only together with the status FINALIZAT"],
        "packaging.0.packaging_type_id": ["is not a packaging type of this company"],
        **OF_ITEMS,
    }
    unknown = {**body, "purchase_order_id": 99, "status": "CREAT", "packaging": None}
    assert await errors_of(dock, unknown) == {
        **(OF_LONG if form else {}),
        "purchase_order_id": ["is not a purchase order of this company"],
    }


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_a_changed_reception_is_told_all_its_errors(dock: Dock, method: str) -> None:
    body = await wrong(dock)
    order = await dock.purchase((A, 1))
    draft = await dock.receive(await dock.purchase((A, 10)), status="CREAT")
    items = [{"po_item_id": draft.body["selected_items"][0]["po_item_id"], "quantity_um3pl": 11}]
    body = {**draft.body, **LONG, "purchase_order_id": order.id, "selected_items": items}
    path = f"{PATH}/{draft.id}"
    assert await errors_of(dock, body, method, path) == {
        **OF_LONG,
        "purchase_order_id": ["cannot be changed: create a new reception for the other order"],
        "selected_items.0.quantity_um3pl": [OVER],
    }


async def test_goods_that_are_posted_are_no_over_receipt_of_their_own(dock: Dock) -> None:
    posted = await dock.receive(await dock.purchase((A, 10)))
    for method in ("PUT", "PATCH"):
        assert await errors_of(dock, {**posted.body, **LONG}, method, f"{PATH}/{posted.id}") == OF_LONG
