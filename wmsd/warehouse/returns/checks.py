"""The doctor's check of returns: the returns of an order must not contain more than the order has shipped."""

from typing import Final

from wmsd.contract.invariants import Check

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

CHECKS: Final = (Check("the returned quantity must be at most the shipped quantity", SHIPPED),)
