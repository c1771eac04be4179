-- How many deliveries the log holds of a status, so that nobody has to read it to know.

CREATE TABLE webhook_delivery_counts (
    status TEXT PRIMARY KEY,
    rows INTEGER NOT NULL CHECK (rows >= 0)
) STRICT, WITHOUT ROWID;

INSERT INTO webhook_delivery_counts (status, rows)
VALUES ('pending', 0), ('held', 0), ('delivered', 0), ('exhausted', 0), ('skipped', 0);
UPDATE webhook_delivery_counts SET rows = counted.rows
FROM (SELECT status, count(*) AS rows FROM webhook_deliveries GROUP BY status) AS counted
WHERE counted.status = webhook_delivery_counts.status;

CREATE TRIGGER webhook_deliveries_counted AFTER INSERT ON webhook_deliveries BEGIN
    UPDATE webhook_delivery_counts SET rows = rows + 1 WHERE status = new.status;
END;
CREATE TRIGGER webhook_deliveries_counted_again AFTER UPDATE OF status ON webhook_deliveries
    WHEN new.status <> old.status
BEGIN
    UPDATE webhook_delivery_counts SET rows = rows + 1 WHERE status = new.status;
    UPDATE webhook_delivery_counts SET rows = rows - 1 WHERE status = old.status;
END;
CREATE TRIGGER webhook_deliveries_counted_off AFTER DELETE ON webhook_deliveries BEGIN
    UPDATE webhook_delivery_counts SET rows = rows - 1 WHERE status = old.status;
END;
