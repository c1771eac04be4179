-- Webhooks whose credentials no key of this installation opens, as after a restore without the keys. Their deliveries
-- wait until somebody sets the credentials again.

ALTER TABLE webhook_subscriptions ADD COLUMN credentials_missing_since TEXT;   -- NULL: they can be opened
