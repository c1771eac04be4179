-- A company's own rules for its stock, and until when a failing subscription's time is counted.

CREATE TABLE stock_rules (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL  -- millionths
) STRICT, WITHOUT ROWID;

ALTER TABLE webhook_subscriptions ADD COLUMN failing_counted_until TEXT;
UPDATE webhook_subscriptions SET failing_counted_until = last_attempt_at WHERE failing_since IS NOT NULL;
ALTER TABLE webhook_subscriptions DROP COLUMN last_attempt_at;

-- The event log can be read from a moment on.
CREATE INDEX events_by_time ON events (occurred_at);
