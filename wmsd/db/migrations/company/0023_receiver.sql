-- How each subscription fares, the log by what people look for, what each attempt sent, and the house's own receiver.

ALTER TABLE webhook_deliveries ADD COLUMN event TEXT;   -- its name; NULL: its event was forgotten before it was noted
UPDATE webhook_deliveries SET event = coalesce(
    (SELECT events.event FROM events WHERE events.sequence = webhook_deliveries.event_sequence),
    test_event ->> 'event'
);

-- A filter of the log is the beginning of one of these, so that a page is read from it, the newest first.
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (subscription_id, created_at);
CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (subscription_id, status, created_at);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (subscription_id, event, created_at);
CREATE INDEX webhook_deliveries_by_record ON webhook_deliveries (subscription_id, entity, entity_id, created_at);

CREATE TABLE webhook_subscription_counts (
    subscription_id INTEGER NOT NULL,
    status TEXT NOT NULL,
    rows INTEGER NOT NULL CHECK (rows >= 0),
    PRIMARY KEY (subscription_id, status)
) STRICT, WITHOUT ROWID;

INSERT INTO webhook_subscription_counts (subscription_id, status, rows)
SELECT subscription_id, status, count(*) FROM webhook_deliveries GROUP BY subscription_id, status;

CREATE TRIGGER webhook_deliveries_of_subscription AFTER INSERT ON webhook_deliveries BEGIN
    INSERT INTO webhook_subscription_counts (subscription_id, status, rows)
    VALUES (new.subscription_id, new.status, 1)
    ON CONFLICT (subscription_id, status) DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER webhook_deliveries_of_subscription_again AFTER UPDATE OF status ON webhook_deliveries
    WHEN new.status <> old.status
BEGIN
    INSERT INTO webhook_subscription_counts (subscription_id, status, rows)
    VALUES (new.subscription_id, new.status, 1)
    ON CONFLICT (subscription_id, status) DO UPDATE SET rows = rows + 1;
    UPDATE webhook_subscription_counts SET rows = rows - 1
    WHERE subscription_id = old.subscription_id AND status = old.status;
END;
CREATE TRIGGER webhook_deliveries_of_subscription_off AFTER DELETE ON webhook_deliveries BEGIN
    UPDATE webhook_subscription_counts SET rows = rows - 1
    WHERE subscription_id = old.subscription_id AND status = old.status;
END;
CREATE TRIGGER webhook_leftovers_swept AFTER DELETE ON webhook_leftovers BEGIN
    DELETE FROM webhook_subscription_counts WHERE subscription_id = old.subscription_id;
END;

-- Attempts of the last days by the hour: how many of them were answered with success.
CREATE TABLE webhook_hours (
    subscription_id INTEGER NOT NULL REFERENCES webhook_subscriptions (id) ON DELETE CASCADE,
    hour TEXT NOT NULL,                 -- such as 2026-11-20T13
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    PRIMARY KEY (subscription_id, hour)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER webhook_attempts_by_hour AFTER INSERT ON webhook_attempts BEGIN
    INSERT INTO webhook_hours (subscription_id, hour, succeeded, failed)
    SELECT subscription.id, substr(new.at, 1, 13),
        new.error IS NULL AND coalesce(new.status BETWEEN 200 AND 299, 0),
        NOT (new.error IS NULL AND coalesce(new.status BETWEEN 200 AND 299, 0))
    FROM webhook_deliveries AS delivery
    JOIN webhook_subscriptions AS subscription ON subscription.id = delivery.subscription_id
    WHERE delivery.id = new.delivery_id
    ON CONFLICT (subscription_id, hour)
        DO UPDATE SET succeeded = succeeded + excluded.succeeded, failed = failed + excluded.failed;
END;

ALTER TABLE webhook_subscriptions ADD COLUMN last_success_at TEXT;
UPDATE webhook_subscriptions SET last_success_at = last_delivery ->> 'attempted_at'
WHERE last_delivery ->> 'status' = 'delivered';

ALTER TABLE webhook_attempts ADD COLUMN url TEXT;
ALTER TABLE webhook_attempts ADD COLUMN sent_headers TEXT;      -- JSON, without credentials
ALTER TABLE webhook_attempts ADD COLUMN answer_headers TEXT;    -- JSON, the first 1 kB

-- Receivers of the house's own: their subscription's deliveries end here, and the last ones are kept.
CREATE TABLE webhook_receivers (
    subscription_id INTEGER PRIMARY KEY REFERENCES webhook_subscriptions (id) ON DELETE CASCADE,
    answers TEXT NOT NULL CHECK (answers IN ('success', 'failure', 'gone', 'late')),
    ends_at TEXT NOT NULL
) STRICT;

CREATE TABLE webhook_received (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    subscription_id INTEGER NOT NULL REFERENCES webhook_receivers (subscription_id) ON DELETE CASCADE,
    delivery_id INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    at TEXT NOT NULL,
    headers TEXT NOT NULL,              -- JSON
    body BLOB NOT NULL,                 -- its beginning
    body_bytes INTEGER NOT NULL,        -- of the whole
    has_valid_signature INTEGER NOT NULL CHECK (has_valid_signature IN (0, 1)),
    answered TEXT NOT NULL
) STRICT;

CREATE INDEX webhook_received_by_receiver ON webhook_received (subscription_id, id);
