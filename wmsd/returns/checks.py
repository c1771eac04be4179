"""Doctor's checks of returns: the ledger has each line of a finished one, and none brings back too much."""

from typing import Final

from wmsd.base.checking import Check
from wmsd.returns.posting import KIND

POSTED: Final = f"""
    WITH moved AS (
        SELECT document_line_id AS line_id, sum(quantity + destroyed) AS quantity FROM stock_movements
        WHERE kind = '{KIND}' GROUP BY document_line_id
    )
    SELECT returns.code || ', line ' || line.id,
        iif(returns.status = 'FINALIZAT', line.quantity, 0), coalesce(moved.quantity, 0)
    FROM return_lines AS line
    JOIN returns ON returns.id = line.return_id
    LEFT JOIN moved ON moved.line_id = line.id
    WHERE iif(returns.status = 'FINALIZAT', line.quantity, 0) <> coalesce(moved.quantity, 0)
"""
SHIPPED: Final = """
    WITH returned AS (
        SELECT returns.sales_order_id, line.article_id, sum(line.quantity) AS quantity
        FROM returns JOIN return_lines AS line ON line.return_id = returns.id
        WHERE returns.sales_order_id IS NOT NULL AND returns.status <> 'ANULAT'
        GROUP BY returns.sales_order_id, line.article_id
    ), shipped AS (
        SELECT sales_order_id, article_id, sum(quantity) AS quantity FROM sales_order_lines
        WHERE sales_order_id IN (SELECT sales_order_id FROM returned) GROUP BY sales_order_id, article_id
    )
    SELECT sales_orders.code || ', ' || articles.code, coalesce(shipped.quantity, 0), returned.quantity
    FROM returned
    JOIN sales_orders ON sales_orders.id = returned.sales_order_id
    JOIN articles ON articles.id = returned.article_id
    LEFT JOIN shipped ON shipped.sales_order_id = returned.sales_order_id
        AND shipped.article_id = returned.article_id
    WHERE returned.quantity > coalesce(shipped.quantity, 0)
"""

CHECKS: Final = (
    Check("a finished return is in the ledger line by line, any other is not", POSTED),
    Check("never more comes back than was shipped", SHIPPED),
)
