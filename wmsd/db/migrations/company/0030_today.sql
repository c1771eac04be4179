-- By when an order should be dealt with, within each status: lists are filtered and sorted by it.

CREATE INDEX sales_orders_by_status_and_date ON sales_orders (status, requested_date);
CREATE INDEX purchase_orders_by_status_and_date ON purchase_orders (status, expected_date);

-- Whether an article has ever been in stock: one with a minimum that has not is low too.

ALTER TABLE articles ADD COLUMN is_stocked INTEGER NOT NULL DEFAULT 0 CHECK (is_stocked IN (0, 1));
UPDATE articles SET is_stocked = 1 WHERE id IN (SELECT article_id FROM stock);
CREATE INDEX articles_never_stocked ON articles (min_stock) WHERE is_stocked = 0 AND active = 1;

CREATE TRIGGER articles_stocked AFTER INSERT ON stock BEGIN
    UPDATE articles SET is_stocked = 1 WHERE id = new.article_id AND is_stocked = 0;
END;
CREATE TRIGGER articles_not_stocked AFTER DELETE ON stock BEGIN
    UPDATE articles SET is_stocked = 0
    WHERE id = old.article_id AND NOT EXISTS (SELECT 1 FROM stock WHERE article_id = old.article_id);
END;

-- Articles under their minimum, once for each warehouse where they are, and those that have one and were never in stock.
CREATE VIEW low_articles (article_id) AS
SELECT article_id FROM stock INDEXED BY stock_low WHERE is_low = 1
UNION ALL
SELECT id FROM articles INDEXED BY articles_never_stocked
WHERE is_stocked = 0 AND active = 1 AND min_stock IS NOT NULL
UNION ALL
SELECT articles.id FROM stock_rules CROSS JOIN articles INDEXED BY articles_never_stocked
WHERE stock_rules.name = 'min_stock' AND is_stocked = 0 AND active = 1 AND min_stock IS NULL;
