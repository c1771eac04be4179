"""Tests of receptions and returns in files, and of all documents of a company exported to and imported by a new
company.
"""

import pytest

from tests.support.command import Tenant

ORDERS = """code,status,partner_code,warehouse_code,article_code,quantity
PO-1,RECEPTIONAT,SUP,MAIN,A,10
PO-1,RECEPTIONAT,SUP,MAIN,L,6
PO-1,RECEPTIONAT,SUP,MAIN,L,4
PO-2,PARTIAL,SUP,MAIN,S,5
"""
HEADER = (
    "code,external_ref,status,purchase_order_code,warehouse_code,transport_ecc,notes,"
    "article_code,item,quantity_um3pl,lot_number,serial_data\n"
)
RECEPTIONS = (
    HEADER
    + "RC-1,IN-1,FINALIZAT,PO-1,MAIN,ECC-1,Ramp 2,A,1,4,,\n"
    + "RC-1,IN-1,FINALIZAT,PO-1,MAIN,ECC-1,Ramp 2,L,2,6,L1,\n"
    + "RC-2,,FINALIZAT,PO-1,MAIN,,,A,1,6,,\n"
    + "RC-2,,FINALIZAT,PO-1,MAIN,,,L,3,4,L2,\n"
    + "RC-3,,FINALIZAT,PO-2,MAIN,,,S,1,3,,S1;S2;S3\n"
    + "RC-4,,ANULAT,PO-2,MAIN,,,S,1,1,,S4\n"
    + "RC-5,,IN_LUCRU,PO-2,MAIN,,,S,1,2,,S4;S5\n"
)
SALES = (
    "code,external_ref,status,partner_code,warehouse_code,client_code,requested_date,notes,customer_reference,"
    "carrier,tracking_number,ship_to.name,ship_to.street,ship_to.city,ship_to.postal_code,ship_to.country,"
    "ship_to.phone,article_code,quantity,line_warehouse_code,lot_number,serials\n"
    "SO-1,,LIVRAT,CUST,MAIN,,,,,,F-1,Ana Pop,,Cluj,,RO,,L,4,,L2,\n"
    "SO-1,,LIVRAT,CUST,MAIN,,,,,,F-1,Ana Pop,,Cluj,,RO,,S,2,,,S1;S3\n"
    "SO-2,,CREAT,CUST,MAIN,,,,,,,,,,,,,L,1,,L1,\n"
)
RETURNS = (
    "code,external_ref,status,partner_code,warehouse_code,sales_order_code,reason,notes,"
    "article_code,quantity,disposition,lot_number,serials\n"
    "RT-1,RMA-1,FINALIZAT,CUST,MAIN,SO-1,Broken,,L,1,DISTRUS,L2,\n"
    "RT-1,RMA-1,FINALIZAT,CUST,MAIN,SO-1,Broken,,L,2,CARANTINA,L2,\n"
    "RT-1,RMA-1,FINALIZAT,CUST,MAIN,SO-1,Broken,,S,1,RESTOC,,S3\n"
    "RT-2,,CREAT,CUST,MAIN,,,,A,1,,,\n"
)
HEADS = "code,status,carrier\nSO-1,LIVRAT,DHL\nSO-9,IN_LUCRU,\n"
FILES = {"purchase-orders": ORDERS, "receptions": RECEPTIONS, "sales-orders": SALES, "returns": RETURNS}


@pytest.fixture
def dock(tenant: Tenant) -> Tenant:
    return furnish(tenant)


def furnish(tenant: Tenant) -> Tenant:
    tenant.take("partners", "code,name,type\nSUP,Supplier,FURNIZOR\nCUST,Customer,CLIENT\n")
    tenant.take("warehouses", "code,name\nMAIN,Main\n")
    tenant.take("articles", "code,name,track_lot,track_serial\nA,A,false,false\nL,L,true,false\nS,S,false,true\n")
    return tenant


def filled(tenant: Tenant) -> Tenant:
    for kind, file in FILES.items():
        tenant.take(kind, file)
    return tenant


def balances(tenant: Tenant) -> dict[str, str]:
    return {row["article_code"]: row["quantity"] for row in tenant.rows("stock")}


def test_imported_receptions_post_their_goods_and_move_their_orders(dock: Tenant) -> None:
    assert dock.take("purchase-orders", ORDERS) == (2, 0, 0)
    assert [row["status"] for row in dock.rows("purchase-orders")] == ["CREAT"] * 4
    assert dock.take("receptions", RECEPTIONS) == (5, 0, 0)
    assert balances(dock) == {"A": "10", "L": "10", "S": "3"}
    statuses = [row["status"] for row in dock.rows("purchase-orders")]
    assert statuses == ["RECEPTIONAT"] * 3 + ["PARTIAL"]
    assert dock.take("purchase-orders", ORDERS) == (0, 0, 2)


def test_each_kind_is_exported_as_it_came_and_taken_back_unchanged(dock: Tenant) -> None:
    filled(dock)
    for kind in ("receptions", "sales-orders", "returns"):
        assert dock.export(kind) == FILES[kind]
    for kind, documents in (("purchase-orders", 2), ("receptions", 5), ("sales-orders", 2), ("returns", 2)):
        assert dock.take(kind, dock.export(kind)) == (0, 0, documents)


def test_a_file_without_lines_changes_documents_and_leaves_their_lines(dock: Tenant) -> None:
    filled(dock)
    empty = "code,article_code,quantity,partner_code,warehouse_code,notes\nSO-2,,,,,x\n"
    assert dock.take("sales-orders", empty) == (0, 1, 0)
    before = {kind: dock.rows(kind) for kind in FILES}
    changes = {"sales-orders": "SO-2", "returns": "RT-2", "receptions": "RC-5"}
    for kind, code in changes.items():
        file = f"code,status\n{code},ANULAT\n"
        assert [dock.take(kind, file), dock.take(kind, file)] == [(0, 1, 0), (0, 0, 1)]
        assert dock.rows(kind) == [
            {**row, "status": "ANULAT"} if row["code"] == code else row for row in before[kind]
        ]
    refused = dock.home.refusals("import", "sales-orders", "-", "--company", dock.code, stdin=HEADS)
    assert refused[:2] == [
        "row 2, carrier: This sales order is LIVRAT. Only its tracking_number can be changed now. The cell has "
        '"DHL".',
        "row 3, code: is not a sales order of this company; to create a new one, fill in partner_code, "
        'warehouse_code, article_code, quantity. The cell has "SO-9".',
    ]


def test_exports_make_a_new_company_the_same(dock: Tenant, shared: object) -> None:
    filled(dock)
    dock.home.ok("company", "create", f"{dock.code}-NEW", "--name", "New", "--all-modules")
    new = furnish(Tenant(dock.home, f"{dock.code}-NEW"))
    for kind in (*FILES, "stock"):
        new.take(kind, dock.export(kind))
    for kind in (*FILES, "stock"):
        assert new.export(kind) == dock.export(kind)
    dock.home.ok("doctor")


def test_receptions_of_orders_that_were_closed_are_taken_in_too(dock: Tenant) -> None:
    header = "code,status,partner_code,warehouse_code,article_code,quantity\n"
    orders = header + "P-1,RECEPTIONAT,SUP,MAIN,A,5\nP-2,ANULAT,SUP,MAIN,A,5\n"
    rows = (
        "R-1,,FINALIZAT,P-1,MAIN,,,A,1,5,,\n"
        "R-2,,ANULAT,P-1,MAIN,,,A,1,5,,\n"
        "R-3,,CREAT,P-1,MAIN,,,A,1,5,,\n"
        "R-4,,ANULAT,P-2,MAIN,,,A,1,5,,\n"
    )
    dock.take("purchase-orders", orders)
    assert dock.take("receptions", HEADER + rows) == (4, 0, 0)
    assert dock.export("receptions") == HEADER + rows
    assert [row["status"] for row in dock.rows("purchase-orders")] == ["RECEPTIONAT", "ANULAT"]
    assert dock.take("receptions", HEADER + rows) == (0, 0, 4)
    assert balances(dock) == {"A": "5"}


def test_what_is_wrong_with_a_reception_is_told_by_row_and_column(dock: Tenant) -> None:
    dock.take("purchase-orders", ORDERS)
    rows = (
        "X1,,,PO-9,MAIN,,,A,,1,,\n"
        "X2,,,PO-1,NONE,,,A,,1,,\n"
        "X3,,,PO-1,MAIN,,,L,,1,L1,\n"
        "X4,,,PO-1,MAIN,,,L,2,7,L1,\n"
        "X5,,,PO-1,MAIN,,,L,2,1,,\n"
        "X6,,FINALIZAT,PO-2,MAIN,,,S,,2,,S1\n"
        "X7,,,PO-1,MAIN,,,A,zero,1,,\n"
    )
    assert dock.refuses("receptions", HEADER + rows) == [
        "row 2, purchase_order_code: is not a purchase order of this company.",
        "row 3, warehouse_code: is not a warehouse of this company.",
        "row 4, article_code: is not an item of purchase order PO-1.",
        "row 5, quantity_um3pl: is more than the order still allows: you entered 7, and 6 of 6 can still be "
        "received.",
        "row 6, lot_number: is required: the article is tracked by lots.",
        "row 7, serial_data: must have one serial for each unit (units arrived: 2, serials given: 1).",
        "row 8, item: must be a whole number.",
    ]
    assert balances(dock) == {}


def test_what_is_wrong_with_a_return_is_told_by_row_and_column(dock: Tenant) -> None:
    filled(dock)
    header = RETURNS.partition("\n")[0] + "\n"
    rows = (
        "X1,,,CUST,MAIN,SO-9,,,A,1,,,\n"
        "X2,,,CUST,MAIN,SO-1,,,L,2,,,\n"
        "X3,,FINALIZAT,CUST,MAIN,,,,A,1,,,\n"
        "X4,,,CUST,MAIN,,,,A,1,SELL,,\n"
        "X5,,,SUP,MAIN,SO-1,,,L,1,,,\n"
    )
    assert dock.refuses("returns", header + rows) == [
        "row 2, sales_order_code: is not a sales order of this company.",
        "row 3, quantity: is more than can be returned: you entered 2, 4 were shipped, and 1 can still be "
        "returned.",
        "row 4, disposition: is required to finish a return: choose one of RESTOC, CARANTINA, DISTRUS.",
        "row 5, disposition: must be 'RESTOC', 'CARANTINA' or 'DISTRUS'.",
        "row 6, partner_code: is not the partner of the sales order SO-1.",
    ]


def test_a_wrong_partner_hides_no_wrong_article(dock: Tenant) -> None:
    header = "external_ref,partner_code,warehouse_code,article_code,quantity\n"
    rows = "E1,CUST,MAIN,NONE,1\nE1,NOBODY,MAIN,A,1\nE2,NOBODY,NOWHERE,GONE,1\nE3,CUST,MAIN,NONE,1\n"
    assert dock.refuses("sales-orders", header + rows) == [
        "row 2, article_code: is not an article of this company.",
        "row 3, partner_code: is not a partner of this company.",
        "row 4, partner_code: is not a partner of this company.",
        "row 4, warehouse_code: is not a warehouse of this company.",
        "row 4, article_code: is not an article of this company.",
        "row 5, article_code: is not an article of this company.",
    ]
