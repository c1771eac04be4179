"""Doctor's checks of receptions: ledger and purchase orders have what was posted, item by item."""

from typing import Final

from wmsd.base.checking import Check
from wmsd.receptions.posting import KIND

POSTED: Final = f"""
    WITH moved AS (
        SELECT document_line_id AS item_id, sum(quantity) AS quantity FROM stock_movements
        WHERE kind = '{KIND}' GROUP BY document_line_id
    )
    SELECT receptions.code || ', item ' || item.id,
        iif(receptions.status = 'FINALIZAT', coalesce(item.quantity, 0), 0), coalesce(moved.quantity, 0)
    FROM reception_items AS item
    JOIN receptions ON receptions.id = item.reception_id
    LEFT JOIN moved ON moved.item_id = item.id
    WHERE iif(receptions.status = 'FINALIZAT', coalesce(item.quantity, 0), 0) <> coalesce(moved.quantity, 0)
"""
RECEIVED: Final = """
    WITH posted AS (SELECT po_item_id, sum(quantity) AS quantity FROM reception_items GROUP BY po_item_id)
    SELECT purchase_orders.code || ', item ' || item.id, coalesce(posted.quantity, 0), item.received_quantity
    FROM purchase_order_items AS item
    JOIN purchase_orders ON purchase_orders.id = item.purchase_order_id
    LEFT JOIN posted ON posted.po_item_id = item.id
    WHERE item.received_quantity <> coalesce(posted.quantity, 0)
"""
FOLLOWED: Final = """
    WITH received AS (
        SELECT purchase_order_id, sum(received_quantity) > 0 AS some, min(received_quantity >= quantity) AS
        all_of_it FROM purchase_order_items GROUP BY purchase_order_id
    ), wanted AS (
        SELECT code, status,
            CASE WHEN all_of_it THEN 'RECEPTIONAT' WHEN some THEN 'PARTIAL or RECEPTIONAT' ELSE 'CREAT or ANULAT'
            END
                AS expected
        FROM purchase_orders JOIN received ON received.purchase_order_id = purchase_orders.id
    )
    SELECT code, expected, status FROM wanted WHERE instr(expected, status) = 0
"""

CHECKS: Final = (
    Check("a finalised reception is in the ledger item by item, any other is not", POSTED),
    Check("an order has received what its receptions posted", RECEIVED),
    Check("an order's status follows what it has received", FOLLOWED, in_millionths=False),
)
