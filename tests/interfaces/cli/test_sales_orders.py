"""`wmsd sales-order`, and sales orders in files."""

import pytest

from tests.support.command import Tenant

COLUMNS = "code,external_ref,status,partner_code,warehouse_code,client_code,requested_date,notes"
PLACE = (
    "customer_reference,carrier,tracking_number,ship_to.name,ship_to.street,ship_to.city,ship_to.postal_code,"
    "ship_to.country,ship_to.phone"
)
GOODS = "article_code,quantity,line_warehouse_code,lot_number,serials"
HEADER = f"{COLUMNS},{GOODS}\n"
GOES = "PO 7,Fan,F-1,Ana Pop,,Cluj,400001,RO,0700"
NOWHERE = ",,,,,,,,"
ORDERS = (
    f"{COLUMNS},{PLACE},{GOODS}\n"
    + f"A-1,W1,LIVRAT,P1,MAIN,C1,2026-12-24,Ring twice,{GOES},A,3,,,\n"
    + f"A-1,W1,LIVRAT,P1,MAIN,C1,2026-12-24,Ring twice,{GOES},A,1.5,EAST,,\n"
    + f"A-2,,CREAT,P2,EAST,,,,{NOWHERE},A,0.000001,,,\n"
    + f"A-3,,ANULAT,P1,MAIN,,,,{NOWHERE},B,2,,,\n"
    + f"A-3,,ANULAT,P1,MAIN,,,,{NOWHERE},B,2,,,\n"
)


def balances(tenant: Tenant) -> list[tuple[str, str, str]]:
    return [(row["article_code"], row["warehouse_code"], row["quantity"]) for row in tenant.rows("stock")]


def test_imported_orders_reserve_and_are_walked_to_their_status(stocked: Tenant) -> None:
    assert stocked.take("sales-orders", ORDERS) == (3, 0, 0)
    assert balances(stocked) == [("A", "MAIN", "7"), ("A", "EAST", "3.5"), ("B", "MAIN", "4")]
    shown = stocked.home.ok("sales-order", "show", "A-1", "--company", stocked.code, "--json").json
    assert [reached["status"] for reached in shown["status_history"]] == [
        "CREAT",
        "IN_LUCRU",
        "INCARCAT",
        "LIVRAT",
    ]
    assert [line["quantity"] for line in shown["lines"]] == [3, 1.5]
    for_people = stocked.home.ok("sales-order", "show", "A-1", "--company", stocked.code).out
    assert "Ana Pop, Cluj, 400001, RO, 0700\n" in for_people


def test_an_export_is_taken_back_unchanged(stocked: Tenant) -> None:
    stocked.take("sales-orders", ORDERS)
    exported = stocked.export("sales-orders")
    assert exported == ORDERS
    assert stocked.take("sales-orders", exported) == (0, 0, 3)
    assert balances(stocked)[0] == ("A", "MAIN", "7")


def test_known_orders_are_changed(stocked: Tenant) -> None:
    stocked.take("sales-orders", ORDERS)
    changed = HEADER.replace("external_ref,", "") + "A-2,IN_LUCRU,P2,EAST,,,Now,A,2,,,\n"
    assert stocked.take("sales-orders", changed) == (0, 1, 0)
    shown = stocked.home.ok("sales-order", "show", "A-2", "--company", stocked.code, "--json").json
    assert (shown["status"], shown["notes"], shown["lines"][0]["quantity"]) == ("IN_LUCRU", "Now", 2)


def test_orders_without_a_code_are_known_by_their_reference(stocked: Tenant) -> None:
    rows = "external_ref,partner_code,warehouse_code,article_code,quantity\nW9,P1,MAIN,A,1\nW9,P1,MAIN,B,1\n"
    assert stocked.take("sales-orders", rows) == (1, 0, 0)
    assert stocked.take("sales-orders", rows) == (0, 0, 1)
    assert [row["code"] for row in stocked.rows("sales-orders")] == ["SO-000001", "SO-000001"]


def test_a_dry_run_changes_nothing(stocked: Tenant) -> None:
    assert stocked.take("sales-orders", ORDERS, "--dry-run") == (3, 0, 0)
    assert stocked.rows("sales-orders") == []
    assert balances(stocked)[0] == ("A", "MAIN", "10")


REFUSED = {
    "unknown codes": (
        "X,,,P9,MAIN,C9,,,A,1,\nX,,,P9,MAIN,C9,,,Z,1,WEST\n",
        [
            "row 2, partner_code: is not a partner of this company.",
            "row 2, client_code: is not a client of this company.",
            "row 3, partner_code: is not a partner of this company.",
            "row 3, client_code: is not a client of this company.",
            "row 3, article_code: is not an article of this company.",
            "row 3, line_warehouse_code: is not a warehouse of this company.",
        ],
    ),
    "an unknown article": ("X,,,P1,MAIN,,,,Z,1,\n", ["row 2, article_code: is not an article of this company."]),
    "short of stock": (
        "X,,,P1,MAIN,,,,A,6,\nX,,,P1,MAIN,,,,A,5,\nY,,,P1,EAST,,,,A,6,\n",
        [
            "row 2, quantity: is more than the available stock: 10 available, 11 requested.",
            "row 3, quantity: is more than the available stock: 10 available, 11 requested.",
            "row 4, quantity: is more than the available stock: 5 available, 6 requested.",
        ],
    ),
    "rows apart": (
        "X,,,P1,MAIN,,,,A,1,\nY,,,P1,MAIN,,,,A,1,\nX,,,P1,MAIN,,,,B,1,\n",
        ["row 4, code: is also in row 2: put all rows of a document together."],
    ),
    "rows that differ": (
        "X,,,P1,MAIN,,,,A,1,\nX,,,P2,MAIN,,,x,A,1,\n",
        [
            "row 3, partner_code: must be the same as in row 2, the first row of this sales order.",
            "row 3, notes: must be the same as in row 2, the first row of this sales order.",
        ],
    ),
    "one code and two references": (
        "X,,,P1,MAIN,,,,A,1,\nX,R,,P1,MAIN,,,,B,1,\n",
        ["row 3, external_ref: must be the same as in row 2, the first row of this sales order."],
    ),
    "one code and two references, apart": (
        "X,,,P1,MAIN,,,,A,1,\nY,,,P1,MAIN,,,,A,1,\nX,R,,P1,MAIN,,,,B,1,\n",
        ["row 4, code: is also in row 2: put all rows of a document together."],
    ),
    "too many lines": (
        "X,,,P1,MAIN,,,,A,0.001,\n" * 1001,
        ["row 1002, code: has more than 1000 lines."],
    ),
    "nothing to know it by": (",,,P1,MAIN,,,,A,1,\n", ["row 2, code: is required unless external_ref is given."]),
    "no status": (
        "X,,DONE,P1,MAIN,,,,A,1,\n",
        ["row 2, status: must be 'CREAT', 'IN_LUCRU', 'INCARCAT', 'LIVRAT' or 'ANULAT'."],
    ),
    "bad cells": (
        "X,,,P1,MAIN,,24.12.26,,A,0,\n",
        [
            "row 2, requested_date: must be a date such as 2026-11-20.",
            "row 2, quantity: must be greater than 0.",
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_with_a_fault_is_refused_whole(stocked: Tenant, case: str) -> None:
    rows, sentences = REFUSED[case]
    header = HEADER.replace(",lot_number,serials", "")
    assert sorted(stocked.refuses("sales-orders", header + rows)) == sorted(sentences)


def test_a_final_order_is_not_changed_by_a_file(stocked: Tenant) -> None:
    stocked.take("sales-orders", ORDERS)
    assert stocked.refuses(
        "sales-orders", HEADER + "A-3,,CREAT,P1,MAIN,,,,B,2,,,\nA-3,,CREAT,P1,MAIN,,,,B,2,,,\n"
    ) == ["row 2, status: The status cannot change from ANULAT to CREAT."]
    assert stocked.refuses("sales-orders", HEADER + "A-3,,,P1,MAIN,,,,B,1,,,\n") == [
        "row 2, article_code: This sales order is ANULAT. It cannot be changed any more."
    ]


def test_list_show_and_move(stocked: Tenant) -> None:
    stocked.take("sales-orders", ORDERS)
    place = ("--company", stocked.code)
    listed = stocked.home.ok("sales-order", "list", *place, "--json").json
    assert [(row["code"], row["status"], row["partner"], row["lines"]) for row in listed] == [
        ("A-1", "LIVRAT", "P1", 2),
        ("A-2", "CREAT", "P2", 1),
        ("A-3", "ANULAT", "P1", 2),
    ]
    some = ("--status", "CREAT", "--status", "ANULAT", "--partner", "P1")
    assert [row["code"] for row in stocked.home.ok("sales-order", "list", *place, *some, "--json").json] == ["A-3"]
    paged = stocked.home.ok("sales-order", "list", *place, "--per-page", "1", "--page", "2")
    assert ("A-2" in paged.out, "A-1" in paged.out, "1 of 3 rows, page 2" in paged.err) == (True, False, True)
    shown = stocked.home.ok("sales-order", "show", "A-1", *place).out
    assert all(part in shown for part in ("Ring twice", "P1", "MAIN", "C1", "article_code", "INCARCAT"))
    moved = stocked.home.ok("sales-order", "status", "A-2", "IN_LUCRU", *place, "--json").json
    assert moved == {"code": "A-2", "status": "IN_LUCRU", "next": ["CREAT", "INCARCAT", "ANULAT"]}


def test_packaging_goes_out_with_the_load(stocked: Tenant) -> None:
    stocked.take("sales-orders", ORDERS)
    stocked.take("packaging-types", "code,name\nEUR,Pallet\nA=B,Odd\n")
    place = ("--company", stocked.code)
    stocked.home.ok("sales-order", "status", "A-2", "IN_LUCRU", *place)
    load = ("sales-order", "status", "A-2", "INCARCAT", *place, "--packaging", "EUR=4", "--packaging", "A=B=0.5")
    stocked.home.ok(*load)
    again = stocked.home.ok(*load)
    assert again.err.splitlines()[-1] == "A-2 already was INCARCAT. Nothing was changed."
    owed = stocked.home.ok("packaging", "balances", *place, "--json").json
    assert [(row["type"], row["partner"], row["quantity"]) for row in owed] == [
        ("EUR", "P2", 4),
        ("A=B", "P2", 0.5),
    ]


BAD_PACKAGING = {
    ("EUR",): ["--packaging EUR must be a packaging type and a number, such as EUR=4."],
    ("=4",): ["--packaging =4 must be a packaging type and a number, such as EUR=4."],
    ("EUR=",): ["--packaging EUR=: quantity must be a number with a decimal point, such as 12.5."],
    ("EUR=1.000",): ["--packaging EUR=1.000: quantity can mean two numbers: write 1000 or 1."],
    ("EUR=0",): ["--packaging EUR=0: quantity must be greater than 0."],
    ("EUR=1", "PAL=1"): ["--packaging PAL=1: PAL is not a packaging type of this company."],
    ("PAL", "EUR=-1"): [
        "--packaging PAL must be a packaging type and a number, such as EUR=4.",
        "--packaging EUR=-1: quantity must be greater than 0.",
    ],
    ("EUR=1",) * 101: ["--packaging must have at most 100 items."],
}


@pytest.mark.parametrize("given", BAD_PACKAGING, ids=lambda given: " ".join(given[:2]))
def test_packaging_that_cannot_go_along_leaves_the_order_where_it_is(
    stocked: Tenant, given: tuple[str, ...]
) -> None:
    stocked.take("sales-orders", ORDERS.replace("A-2,,CREAT", "A-2,,IN_LUCRU"))
    stocked.take("packaging-types", "code,name\nEUR,Pallet\n")
    place = ("--company", stocked.code)
    options = [part for each in given for part in ("--packaging", each)]
    assert (
        stocked.home.refusals("sales-order", "status", "A-2", "INCARCAT", *place, *options) == BAD_PACKAGING[given]
    )
    assert stocked.home.ok("sales-order", "show", "A-2", *place, "--json").json["status"] == "IN_LUCRU"


def test_packaging_with_another_move_is_refused(stocked: Tenant) -> None:
    stocked.take("sales-orders", ORDERS)
    move = ("sales-order", "status", "A-2", "IN_LUCRU", "--company", stocked.code, "--packaging", "EUR=4")
    assert stocked.home.refusals(*move) == ["--packaging is allowed only together with the status INCARCAT."]


def test_quantities_are_shown_as_people_write_them(stocked: Tenant) -> None:
    stocked.take("sales-orders", ORDERS)
    shown = stocked.home.ok("sales-order", "show", "A-2", "--company", stocked.code).out
    record, lines, history = (part.splitlines() for part in shown.split("\n\n"))
    assert [line.split() for line in record[1:5]] == [
        ["code", "A-2"],
        ["status", "CREAT"],
        ["partner", "P2"],
        ["warehouse", "EAST"],
    ]
    assert [line.split() for line in lines] == [
        ["id", "article_code", "quantity", "warehouse", "lot_number", "serials"],
        ["3", "A", "0.000001", "EAST", "-", "-"],
    ]
    assert [line.split()[0] for line in history] == ["status", "CREAT"]


def test_what_cannot_be_is_said(stocked: Tenant) -> None:
    stocked.take("sales-orders", ORDERS)
    place = ("--company", stocked.code)
    assert stocked.home.refusals("sales-order", "status", "A-1", "ANULAT", *place) == [
        "A sales order with the status LIVRAT cannot change its status any more."
    ]
    assert stocked.home.refusals("sales-order", "status", "A-2", "LIVRAT", *place) == [
        "A sales order with the status CREAT cannot become LIVRAT, only IN_LUCRU or ANULAT."
    ]
    for command in (["show", "A-9"], ["status", "A-9", "ANULAT"]):
        assert stocked.home.refused("sales-order", *command, *place) == (
            f"No sales order has the code A-9. `wmsd sales-order list --company {stocked.code}` lists the codes."
        )
    assert stocked.home.refused("sales-order", "show", "a-1", *place) == (
        "No sales order has the code a-1. Did you mean A-1?"
    )
    assert stocked.home.refused("sales-order", "list", *place, "--partner", "P9") == (
        f"No partner has the code P9. `wmsd export partners --company {stocked.code}` lists the codes."
    )
    assert "Invalid value" in stocked.home.misunderstood("sales-order", "status", "A-1", "DONE", *place)
