"""The doctor's checks of receptions. The received quantity of each purchase order item must match what receptions
have posted.
"""

from typing import Final

from wmsd.contract.invariants import Check

RECEIVED: Final = """
    WITH posted AS (SELECT po_item_id, sum(quantity) AS quantity FROM reception_items GROUP BY po_item_id)
    SELECT purchase_orders.code || ', item ' || item.id, coalesce(posted.quantity, 0), item.received_quantity
    FROM purchase_order_items AS item
    JOIN purchase_orders ON purchase_orders.id = item.purchase_order_id
    LEFT JOIN posted ON posted.po_item_id = item.id
    WHERE item.received_quantity <> coalesce(posted.quantity, 0)
"""
ITEM: Final = "{order}, item {item}"
PARTIAL, UNTOUCHED = "PARTIAL or RECEPTIONAT", "CREAT or ANULAT"
FOLLOWED: Final = f"""
    WITH received AS (
        SELECT purchase_order_id, sum(received_quantity) > 0 AS some, min(received_quantity >= quantity) AS
        all_of_it FROM purchase_order_items GROUP BY purchase_order_id
    ), wanted AS (
        SELECT code, status,
            CASE WHEN all_of_it THEN 'RECEPTIONAT' WHEN some THEN '{PARTIAL}' ELSE '{UNTOUCHED}' END AS expected
        FROM purchase_orders JOIN received ON received.purchase_order_id = purchase_orders.id
    )
    SELECT code, expected, status FROM wanted WHERE instr(expected, status) = 0
"""

CHECKS: Final = (
    Check(
        "the received quantity of a purchase order must equal the sum of its posted receptions",
        RECEIVED,
        words=(ITEM,),
    ),
    Check(
        "the status of a purchase order must match its received quantity",
        FOLLOWED,
        in_millionths=False,
        words=(PARTIAL, UNTOUCHED),
    ),
)
