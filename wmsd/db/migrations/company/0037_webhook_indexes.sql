-- An event writes one delivery for each subscription. Where the index begins with the record, all of them are in one
-- place of the file; where it begins with the subscription, each is in a page of its own.

DROP INDEX webhook_deliveries_open;
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (entity, entity_id, subscription_id, id)
    WHERE status IN ('pending', 'held');
DROP INDEX webhook_deliveries_by_record;
CREATE INDEX webhook_deliveries_by_record ON webhook_deliveries (entity, entity_id, subscription_id, created_at);

-- The deliveries of all statuses, each in the order of time, are the log.
DROP INDEX webhook_deliveries_log;
DROP INDEX webhook_deliveries_by_time;

-- The counts of a company are the sums of its subscriptions' counts.
DROP TRIGGER webhook_deliveries_counted;
DROP TRIGGER webhook_deliveries_counted_again;
DROP TRIGGER webhook_deliveries_counted_off;
DROP TABLE webhook_delivery_counts;
