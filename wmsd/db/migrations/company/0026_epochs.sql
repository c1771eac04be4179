-- The company's history has epochs: a restore, an import or a copy begins a new one. Cursors and webhook deliveries name
-- the epoch that they belong to.

CREATE TABLE epochs (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    reason TEXT NOT NULL,
    began_at TEXT,      -- NULL: when the company was created
    kept_up_to TEXT     -- what was written until then is here, what was written later in the epoch before is not
) STRICT;
INSERT INTO epochs (number, name, reason) VALUES (1, '1', 'created');

-- Where numbers go on in an epoch. `numbers`: a table for its ids, `series SO` for codes, `webhook_subscriptions/3` for
-- the deliveries of a subscription. The numbers between `last` and `next` may have been given in the epoch before.
CREATE TABLE seams (
    numbers TEXT NOT NULL,
    epoch INTEGER NOT NULL REFERENCES epochs (number),
    last INTEGER NOT NULL,
    next INTEGER NOT NULL,
    PRIMARY KEY (numbers, epoch, next),
    CHECK (last < next)
) STRICT, WITHOUT ROWID;

-- Gaps that restores have left before seams were recorded.
INSERT INTO seams (numbers, epoch, last, next)
SELECT 'webhook_subscriptions/' || subscription_id, 1, before, sequence FROM (
    SELECT subscription_id, sequence, lag(sequence) OVER (PARTITION BY subscription_id ORDER BY id) AS before
    FROM webhook_deliveries
)
WHERE sequence > before + 1;
INSERT INTO seams (numbers, epoch, last, next)
SELECT 'webhook_subscriptions/' || subscription.id, 1, max(delivery.sequence), last_sequence + 1
FROM webhook_subscriptions AS subscription
JOIN webhook_deliveries AS delivery ON delivery.subscription_id = subscription.id
GROUP BY subscription.id HAVING last_sequence > max(delivery.sequence);

-- An id is never given twice, also when the last record was deleted or is missing after a restore. AUTOINCREMENT does
-- not change how rows are stored, so the tables need not be written anew: https://www.sqlite.org/lang_altertable.html,
-- section 7.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'id INTEGER PRIMARY KEY,', 'id INTEGER PRIMARY KEY AUTOINCREMENT,')
WHERE type = 'table' AND name IN (
    'clients', 'partners', 'warehouses', 'articles', 'stock', 'stock_movements', 'sales_orders', 'returns',
    'transports', 'packaging_types', 'packaging_balances', 'packaging_movements'
);
PRAGMA writable_schema = RESET;
INSERT INTO sqlite_sequence (name, seq)
SELECT name, max(last, coalesce((SELECT last FROM ids_given WHERE table_name = name), 0)) FROM (
    SELECT 'clients' AS name, coalesce(max(id), 0) AS last FROM clients
    UNION ALL SELECT 'partners', coalesce(max(id), 0) FROM partners
    UNION ALL SELECT 'warehouses', coalesce(max(id), 0) FROM warehouses
    UNION ALL SELECT 'articles', coalesce(max(id), 0) FROM articles
    UNION ALL SELECT 'stock', coalesce(max(id), 0) FROM stock
    UNION ALL SELECT 'stock_movements', coalesce(max(id), 0) FROM stock_movements
    UNION ALL SELECT 'sales_orders', coalesce(max(id), 0) FROM sales_orders
    UNION ALL SELECT 'returns', coalesce(max(id), 0) FROM returns
    UNION ALL SELECT 'transports', coalesce(max(id), 0) FROM transports
    UNION ALL SELECT 'packaging_types', coalesce(max(id), 0) FROM packaging_types
    UNION ALL SELECT 'packaging_balances', coalesce(max(id), 0) FROM packaging_balances
    UNION ALL SELECT 'packaging_movements', coalesce(max(id), 0) FROM packaging_movements
);
DROP TABLE ids_given;
