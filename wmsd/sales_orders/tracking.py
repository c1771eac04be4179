"""What forbids a change of an article's tracking, because sales orders may still move its stock: see
`articles/tracking.py`.
"""

from typing import Final

from wmsd.articles.tracking import Obstacle

LOADED_SERIALS: Final = """
    SELECT EXISTS (
        SELECT 1 FROM sales_orders
        CROSS JOIN stock_movements AS moved
            ON moved.document_id = sales_orders.id AND moved.kind IN ('loading', 'unloading')
        CROSS JOIN stock ON stock.id = moved.stock_id
        WHERE sales_orders.status = 'INCARCAT' AND stock.article_id = :id AND moved.serial IS NOT NULL
        GROUP BY sales_orders.id, moved.serial HAVING sum(moved.quantity) < 0
    )
"""
FRACTIONS: Final = """
    SELECT EXISTS (
        SELECT 1 FROM sales_orders CROSS JOIN sales_order_lines AS line ON line.sales_order_id = sales_orders.id
        WHERE sales_orders.status IN ('CREAT', 'IN_LUCRU', 'INCARCAT')
            AND line.article_id = :id AND line.quantity % 1000000
    )
"""
OBSTACLES: Final = (
    Obstacle("off", LOADED_SERIALS, "loaded sales orders have serials of it"),
    Obstacle("on", FRACTIONS, "open sales orders have lines that are not whole units"),
)
