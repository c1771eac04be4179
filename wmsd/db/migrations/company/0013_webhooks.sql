-- Webhooks: who is told of what, what is to be sent, and every attempt at it.

-- AUTOINCREMENT: deliveries name their subscription, and the id of a deleted one is never given again.
CREATE TABLE webhook_subscriptions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    events TEXT NOT NULL,               -- JSON: names, or ["*"]
    auth_type TEXT NOT NULL CHECK (auth_type IN ('hmac', 'bearer', 'basic', 'custom')),
    active INTEGER NOT NULL CHECK (active IN (0, 1)),
    credentials TEXT NOT NULL,          -- sealed JSON, by the installation's vault
    has_short_secret INTEGER NOT NULL CHECK (has_short_secret IN (0, 1)),
    previous_secret TEXT,               -- sealed; signs too until it expires
    previous_secret_expires_at TEXT,
    last_sequence INTEGER NOT NULL DEFAULT 0,
    last_delivery TEXT,                 -- JSON: what came of the last attempt
    last_attempt_at TEXT,
    failing_since TEXT,
    failing_milliseconds INTEGER NOT NULL DEFAULT 0,
    switched_off_at TEXT,               -- by the service itself
    switched_off_because TEXT,
    is_switch_off_audited INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- Only of those that are active: an event that nobody waits for costs one look at this table.
CREATE TABLE webhook_topics (
    event TEXT NOT NULL,                -- a name, or *
    subscription_id INTEGER NOT NULL REFERENCES webhook_subscriptions (id),
    PRIMARY KEY (event, subscription_id)
) STRICT, WITHOUT ROWID;

-- No reference: what a deleted subscription leaves is swept later, some at a time.
CREATE TABLE webhook_deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    subscription_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL,          -- of its subscription, without gaps
    event_sequence INTEGER,             -- in events; NULL: a test
    test_event TEXT,                    -- JSON: id, event, timestamp, data of a test
    entity TEXT NOT NULL,
    entity_id INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'held', 'delivered', 'exhausted', 'skipped')),
    attempts INTEGER NOT NULL DEFAULT 0,
    attempts_left INTEGER NOT NULL CHECK (attempts_left >= 0),
    due_at INTEGER,                     -- milliseconds since 1970
    skipped_because TEXT,
    created_at TEXT NOT NULL,
    CHECK ((status = 'pending') = (due_at IS NOT NULL)),
    CHECK ((event_sequence IS NULL) = (test_event IS NOT NULL))
) STRICT;

CREATE INDEX webhook_deliveries_log ON webhook_deliveries (subscription_id, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (subscription_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (subscription_id, entity, entity_id, id)
    WHERE status IN ('pending', 'held');

CREATE TRIGGER webhook_deliveries_numbered AFTER INSERT ON webhook_deliveries BEGIN
    UPDATE webhook_subscriptions SET last_sequence = new.sequence WHERE id = new.subscription_id;
END;

CREATE TABLE webhook_attempts (
    delivery_id INTEGER NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at TEXT NOT NULL,
    milliseconds INTEGER NOT NULL,
    status INTEGER,                     -- of the answer; NULL: there was none
    answer TEXT,                        -- its first 2 kB
    error TEXT,
    PRIMARY KEY (delivery_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_leftovers (
    subscription_id INTEGER PRIMARY KEY
) STRICT;

INSERT INTO row_counts (name, rows) VALUES ('webhook_subscriptions', 0);
CREATE TRIGGER webhook_subscriptions_counted AFTER INSERT ON webhook_subscriptions BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'webhook_subscriptions';
END;
CREATE TRIGGER webhook_subscriptions_counted_off AFTER DELETE ON webhook_subscriptions BEGIN
    UPDATE row_counts SET rows = rows - 1 WHERE name = 'webhook_subscriptions';
    INSERT INTO webhook_leftovers (subscription_id) VALUES (old.id);
END;
