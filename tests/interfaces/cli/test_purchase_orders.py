"""Purchase orders in files."""

from tests.support.command import Tenant

HEADER = "code,external_ref,status,partner_code,warehouse_code,expected_date,notes,article_code,quantity\n"
ORDERS = (
    HEADER
    + "B-1,W1,CREAT,P1,MAIN,2026-12-24,Ramp 2,A,3\n"
    + "B-1,W1,CREAT,P1,MAIN,2026-12-24,Ramp 2,B,0.5\n"
    + "B-2,,ANULAT,P2,EAST,,,A,1\n"
)


def test_an_export_is_taken_back_unchanged(stocked: Tenant) -> None:
    assert stocked.take("purchase-orders", ORDERS) == (2, 0, 0)
    assert stocked.export("purchase-orders") == ORDERS
    assert stocked.take("purchase-orders", ORDERS) == (0, 0, 2)
    assert [row["quantity"] for row in stocked.rows("stock")] == ["10", "5", "4"], "ordering moves no stock"


def test_known_orders_are_changed(stocked: Tenant) -> None:
    stocked.take("purchase-orders", ORDERS)
    changed = "code,partner_code,warehouse_code,article_code,quantity,status\nB-1,P1,MAIN,A,9,ANULAT\n"
    assert stocked.take("purchase-orders", changed) == (0, 1, 0)
    assert [(row["quantity"], row["status"], row["notes"]) for row in stocked.rows("purchase-orders")] == [
        ("9", "ANULAT", "Ramp 2"),
        ("1", "ANULAT", ""),
    ]


def test_a_file_with_faults_is_refused_whole(stocked: Tenant) -> None:
    rows = "X,,,P9,MAIN,,,Z,1\nY,,,P1,MAIN,,,Z,1\nV,,GONE,P1,MAIN,,,A,1\n"
    assert stocked.refuses("purchase-orders", HEADER + rows) == [
        "row 2, partner_code: is not a partner of this company.",
        "row 2, article_code: is not an article of this company.",
        "row 3, article_code: is not an article of this company.",
        "row 4, status: must be 'CREAT', 'PARTIAL', 'RECEPTIONAT' or 'ANULAT'.",
    ]


def test_an_order_that_was_received_elsewhere_waits_for_its_receptions(stocked: Tenant) -> None:
    assert stocked.take("purchase-orders", HEADER + "B-1,,RECEPTIONAT,P1,MAIN,,,A,5\n") == (1, 0, 0)
    assert [row["status"] for row in stocked.rows("purchase-orders")] == ["CREAT"]
