-- Webhook subscriptions get a place in the order of changes, as all other records have. Those of one millisecond get
-- different places in it. `updated_at` is the millisecond of the place: it stays what it was.

ALTER TABLE webhook_subscriptions ADD COLUMN change_seq INTEGER;

-- By the clock, as the moments of attempts are: a place in the order of changes may be ahead of it.
ALTER TABLE webhook_subscriptions ADD COLUMN changed_at TEXT;
UPDATE webhook_subscriptions SET changed_at = updated_at;

UPDATE webhook_subscriptions SET change_seq = placed.place
FROM (
    SELECT id, number + max(millisecond * 1000 + 1 - number) OVER (ORDER BY number) AS place
    FROM (
        SELECT id, CAST(round(unixepoch(updated_at, 'subsec') * 1000) AS INTEGER) AS millisecond,
            row_number() OVER (ORDER BY updated_at, id) AS number
        FROM webhook_subscriptions
    )
) AS placed WHERE placed.id = webhook_subscriptions.id;
CREATE UNIQUE INDEX webhook_subscriptions_by_change ON webhook_subscriptions (change_seq);

UPDATE change_sequence SET value = max(
    value, (SELECT coalesce(max(change_seq), 0) FROM webhook_subscriptions)
);
