"""Sales orders that forbid switching an article's tracking by serials on or off, because they may still move its
stock.

See `warehouse/articles/tracking_rules.py`.
"""

from typing import Final

from wmsd.warehouse.articles.tracking_rules import Obstacle
from wmsd.warehouse.documents.stock_obstacles import fractional_lines
from wmsd.warehouse.sales_orders.rules import TRANSITIONS
from wmsd.warehouse.sales_orders.store import ORDERS

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
OBSTACLES: Final = (
    Obstacle("off", LOADED_SERIALS, "loaded sales orders have serials of the article"),
    fractional_lines(ORDERS, TRANSITIONS.fields_change_in),
)
