-- Whether stock is low now: at most its minimum is available. That is another matter than whether stock.low was sent,
-- because a minimum that is changed sends nothing until the stock moves.

DROP INDEX stock_low;
ALTER TABLE stock RENAME COLUMN is_low TO is_told_low;
ALTER TABLE stock ADD COLUMN is_low INTEGER NOT NULL DEFAULT 0 CHECK (is_low IN (0, 1));

UPDATE stock SET is_low = 1
WHERE quantity - reserved - quarantined <= coalesce(
    (SELECT min_stock FROM articles WHERE articles.id = stock.article_id),
    (SELECT value FROM stock_rules WHERE name = 'min_stock')
);

CREATE INDEX stock_low ON stock (article_id) WHERE is_low = 1;

CREATE TRIGGER stock_low_at_first AFTER INSERT ON stock
WHEN new.quantity - new.reserved - new.quarantined <= coalesce(
    (SELECT min_stock FROM articles WHERE articles.id = new.article_id),
    (SELECT value FROM stock_rules WHERE name = 'min_stock')
)
BEGIN
    UPDATE stock SET is_low = 1 WHERE id = new.id;
END;

CREATE TRIGGER stock_low_by_movement AFTER UPDATE OF quantity, reserved, quarantined ON stock
WHEN new.is_low <> coalesce(new.quantity - new.reserved - new.quarantined <= coalesce(
    (SELECT min_stock FROM articles WHERE articles.id = new.article_id),
    (SELECT value FROM stock_rules WHERE name = 'min_stock')
), 0)
BEGIN
    UPDATE stock SET is_low = 1 - is_low WHERE id = new.id;
END;

CREATE TRIGGER stock_low_by_article AFTER UPDATE OF min_stock ON articles WHEN new.min_stock IS NOT old.min_stock
BEGIN
    UPDATE stock SET is_low = 1 - is_low
    WHERE article_id = new.id AND is_low <> coalesce(quantity - reserved - quarantined <= coalesce(
        new.min_stock, (SELECT value FROM stock_rules WHERE name = 'min_stock')
    ), 0);
END;

CREATE TRIGGER stock_low_by_rule AFTER INSERT ON stock_rules WHEN new.name = 'min_stock'
BEGIN
    UPDATE stock SET is_low = 1 - stock.is_low FROM articles
    WHERE articles.id = stock.article_id AND articles.min_stock IS NULL
    AND stock.is_low <> (stock.quantity - stock.reserved - stock.quarantined <= new.value);
END;

CREATE TRIGGER stock_low_without_rule AFTER DELETE ON stock_rules WHEN old.name = 'min_stock'
BEGIN
    UPDATE stock SET is_low = 0 FROM articles
    WHERE articles.id = stock.article_id AND articles.min_stock IS NULL AND stock.is_low = 1;
END;
