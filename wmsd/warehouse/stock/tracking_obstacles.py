"""Goods in stock that forbid switching an article's tracking by serials on or off. See
`warehouse/articles/tracking_rules.py`.
"""

from typing import Final

from wmsd.warehouse.articles.tracking_rules import Obstacle

SERIALS: Final = "SELECT count(*) FROM stock_serials WHERE article_id = :id"
FRACTIONS: Final = """
    SELECT EXISTS (
        SELECT 1 FROM stock
        WHERE article_id = :id AND (quantity % 1000000 OR reserved % 1000000 OR quarantined % 1000000)
    ) OR EXISTS (
        SELECT 1 FROM stock CROSS JOIN stock_lots AS lot ON lot.stock_id = stock.id
        WHERE article_id = :id
            AND (lot.quantity % 1000000 OR lot.reserved % 1000000 OR lot.quarantined % 1000000)
    )
"""
OBSTACLES: Final = (
    Obstacle("off", SERIALS, "serials of the article are in stock: {count}"),
    Obstacle("on", FRACTIONS, "the stock of the article has fractions of a unit"),
)
