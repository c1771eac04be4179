-- Where a lot or a serial of an article came from, and where it went: the movements of each stock record, by whether
-- the quantity rose, fell or stayed, in the order of the ledger.

DROP INDEX stock_movements_by_lot;
DROP INDEX stock_movements_by_serial;
CREATE INDEX stock_movements_by_lot ON stock_movements (
    lot_number, stock_id, (quantity > 0) - (quantity < 0), id
) WHERE lot_number IS NOT NULL;
CREATE INDEX stock_movements_by_serial ON stock_movements (
    serial, stock_id, (quantity > 0) - (quantity < 0), id
) WHERE serial IS NOT NULL;

-- The orders that have an article.

CREATE INDEX sales_order_lines_by_article ON sales_order_lines (article_id, sales_order_id);
CREATE INDEX purchase_order_items_by_article ON purchase_order_items (article_id, purchase_order_id);
