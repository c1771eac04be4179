-- `updated_at` is the millisecond of `change_seq`. Records that were written with many others, or after the clock was
-- set back, showed an earlier moment: "changed after the last moment that I saw" found them again each time.

UPDATE articles SET updated_at = moment.text
FROM (
    SELECT id, strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
        || printf('.%03dZ', change_seq / 1000 % 1000) AS text
    FROM articles
) AS moment WHERE moment.id = articles.id AND moment.text <> updated_at;

UPDATE stock SET updated_at = moment.text
FROM (
    SELECT id, strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
        || printf('.%03dZ', change_seq / 1000 % 1000) AS text
    FROM stock
) AS moment WHERE moment.id = stock.id AND moment.text <> updated_at;

UPDATE sales_orders SET updated_at = moment.text
FROM (
    SELECT id, strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
        || printf('.%03dZ', change_seq / 1000 % 1000) AS text
    FROM sales_orders
) AS moment WHERE moment.id = sales_orders.id AND moment.text <> updated_at;

UPDATE purchase_orders SET updated_at = moment.text
FROM (
    SELECT id, strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
        || printf('.%03dZ', change_seq / 1000 % 1000) AS text
    FROM purchase_orders
) AS moment WHERE moment.id = purchase_orders.id AND moment.text <> updated_at;

UPDATE receptions SET updated_at = moment.text
FROM (
    SELECT id, strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
        || printf('.%03dZ', change_seq / 1000 % 1000) AS text
    FROM receptions
) AS moment WHERE moment.id = receptions.id AND moment.text <> updated_at;

UPDATE returns SET updated_at = moment.text
FROM (
    SELECT id, strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
        || printf('.%03dZ', change_seq / 1000 % 1000) AS text
    FROM returns
) AS moment WHERE moment.id = returns.id AND moment.text <> updated_at;

UPDATE packaging_balances SET updated_at = moment.text
FROM (
    SELECT id, strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
        || printf('.%03dZ', change_seq / 1000 % 1000) AS text
    FROM packaging_balances
) AS moment WHERE moment.id = packaging_balances.id AND moment.text <> updated_at;

UPDATE transports SET updated_at = moment.text
FROM (
    SELECT id, strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
        || printf('.%03dZ', change_seq / 1000 % 1000) AS text
    FROM transports
) AS moment WHERE moment.id = transports.id AND moment.text <> updated_at;
