"""What sales orders promise: they hold what their lines say, and shipped what they say."""

from typing import Final

from wmsd.base.checking import Check
from wmsd.documents.checks import status_checks
from wmsd.sales_orders.rules import HOLDS_STOCK, SHIPPED, STATUSES

OPEN: Final = ", ".join(f"'{status}'" for status in STATUSES if status in HOLDS_STOCK)
LEFT: Final = ", ".join(f"'{status}'" for status in STATUSES if status in SHIPPED)

RESERVATIONS: Final = f"""
    WITH wanted AS (
        SELECT sales_orders.id AS sales_order_id, stock.id AS stock_id, sum(line.quantity) AS quantity
        FROM sales_orders
        JOIN sales_order_lines AS line ON line.sales_order_id = sales_orders.id
        LEFT JOIN stock ON stock.article_id = line.article_id AND stock.warehouse_id = line.warehouse_id
        WHERE sales_orders.status IN ({OPEN})
        GROUP BY sales_orders.id, stock.id
    )
    SELECT sales_orders.code, coalesce(wanted.quantity, 0), coalesce(reservations.quantity, 0)
    FROM wanted FULL JOIN reservations
        ON reservations.sales_order_id = wanted.sales_order_id AND reservations.stock_id = wanted.stock_id
    JOIN sales_orders ON sales_orders.id = coalesce(wanted.sales_order_id, reservations.sales_order_id)
    WHERE wanted.quantity IS NOT reservations.quantity
"""
MOVED: Final = f"""
    SELECT sales_orders.code || ', line ' || line.id,
        iif(sales_orders.status IN ({LEFT}), line.quantity, 0), coalesce(moved.quantity, 0)
    FROM sales_orders
    JOIN sales_order_lines AS line ON line.sales_order_id = sales_orders.id
    LEFT JOIN (
        SELECT document_line_id, -sum(quantity) AS quantity FROM stock_movements
        WHERE kind IN ('loading', 'unloading') GROUP BY document_line_id
    ) AS moved ON moved.document_line_id = line.id
    WHERE iif(sales_orders.status IN ({LEFT}), line.quantity, 0) <> coalesce(moved.quantity, 0)
"""

CHECKS: Final = (
    Check("an open order holds what its lines say, any other nothing", RESERVATIONS),
    Check("a loaded order has shipped what its lines say, any other nothing", MOVED),
    *status_checks("sales order", "sales_orders", "sales_order_counts"),
)
