"""Doctor's checks of sales orders: reservations and goods issues match the lines."""

from typing import Final

from wmsd.base.checking import Check
from wmsd.base.quantity import SCALE
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
    ), held AS (
        SELECT holder_id AS sales_order_id, stock_id, quantity FROM reservations WHERE holder_kind = 'sales_order'
    )
    SELECT sales_orders.code, coalesce(wanted.quantity, 0), coalesce(held.quantity, 0)
    FROM wanted FULL JOIN held
        ON held.sales_order_id = wanted.sales_order_id AND held.stock_id = wanted.stock_id
    JOIN sales_orders ON sales_orders.id = coalesce(wanted.sales_order_id, held.sales_order_id)
    WHERE wanted.quantity IS NOT held.quantity
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

HELD_SERIALS: Final = f"""
    WITH named AS (
        SELECT sales_orders.id AS sales_order_id, line.article_id, each.value AS serial
        FROM sales_orders
        JOIN sales_order_lines AS line ON line.sales_order_id = sales_orders.id
        CROSS JOIN json_each(line.serials) AS each
        WHERE sales_orders.status IN ({OPEN}) AND line.serials IS NOT NULL
    ), held AS (
        SELECT holder_id AS sales_order_id, article_id, serial FROM stock_serials WHERE holder_kind = 'sales_order'
    )
    SELECT sales_orders.code || ', serial ' || coalesce(named.serial, held.serial),
        iif(named.serial IS NULL, 'free', 'held'), iif(held.serial IS NULL, 'free', 'held')
    FROM named FULL JOIN held ON held.sales_order_id = named.sales_order_id
        AND held.article_id = named.article_id AND held.serial = named.serial
    JOIN sales_orders ON sales_orders.id = coalesce(named.sales_order_id, held.sales_order_id)
    WHERE named.serial IS NULL OR held.serial IS NULL
"""
HELD_LOTS: Final = f"""
    WITH named AS (
        SELECT sales_order_id, lot_id, sum(quantity) AS quantity FROM (
            SELECT sales_orders.id AS sales_order_id, stock_lots.id AS lot_id, line.quantity
            FROM sales_orders
            JOIN sales_order_lines AS line ON line.sales_order_id = sales_orders.id
            JOIN stock ON stock.article_id = line.article_id AND stock.warehouse_id = line.warehouse_id
            JOIN stock_lots ON stock_lots.stock_id = stock.id AND stock_lots.lot_number = line.lot_number
            WHERE sales_orders.status IN ({OPEN}) AND line.lot_number IS NOT NULL AND line.serials IS NULL
            UNION ALL
            SELECT held.holder_id, stock_lots.id, {SCALE} FROM stock_serials AS held
            JOIN stock_lots ON stock_lots.stock_id = held.stock_id AND stock_lots.lot_number = held.lot_number
            WHERE held.holder_kind = 'sales_order'
        )
        GROUP BY sales_order_id, lot_id
    ), held AS (
        SELECT holder_id AS sales_order_id, lot_id, quantity FROM lot_reservations
        WHERE holder_kind = 'sales_order'
    )
    SELECT sales_orders.code || ', lot ' || stock_lots.lot_number,
        coalesce(named.quantity, 0), coalesce(held.quantity, 0)
    FROM named FULL JOIN held
        ON held.sales_order_id = named.sales_order_id AND held.lot_id = named.lot_id
    JOIN sales_orders ON sales_orders.id = coalesce(named.sales_order_id, held.sales_order_id)
    JOIN stock_lots ON stock_lots.id = coalesce(named.lot_id, held.lot_id)
    WHERE named.quantity IS NOT held.quantity
"""

CHECKS: Final = (
    Check("an open order holds what its lines say, any other nothing", RESERVATIONS),
    Check("a loaded order has shipped what its lines say, any other nothing", MOVED),
    Check(
        "an open order holds the serials that its lines name, any other none", HELD_SERIALS, in_millionths=False
    ),
    Check("an open order holds of a lot what its lines name of it, any other nothing", HELD_LOTS),
)
