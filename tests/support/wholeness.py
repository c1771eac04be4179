"""SQL queries about the orders in a company's file, for checks that the doctor does not make."""

NOT_TOLD_ONCE = """
    SELECT coalesce(sales_orders.code, 'no order ' || told.entity_id), coalesce(told.times, 0)
    FROM sales_orders FULL JOIN (
        SELECT entity_id, count(*) AS times FROM events WHERE event = 'sales_order.created' GROUP BY entity_id
    ) AS told ON told.entity_id = sales_orders.id
    WHERE sales_orders.id IS NULL OR told.times IS NOT 1
"""
"""Orders without exactly one sales_order.created, and such events without an order."""

AVAILABLE_AS_TOLD = """
    SELECT data ->> 'available' FROM events
    WHERE event = 'stock.updated' AND data ->> 'article_code' = 'A' AND data ->> 'warehouse_id' = 1
    ORDER BY sequence
"""
"""The available quantity of the article A in the first warehouse after each event about it, in order."""

STORED = """
    SELECT notes, (
        SELECT json_group_array(
            json_array(articles.code, line.quantity, coalesce(line.warehouse_id, sales_orders.warehouse_id))
            ORDER BY line.position
        )
        FROM sales_order_lines AS line JOIN articles ON articles.id = line.article_id
        WHERE line.sales_order_id = sales_orders.id
    )
    FROM sales_orders ORDER BY id
"""
"""The notes of each order, which identify it, and its lines as JSON: article code, millionths, warehouse id."""
