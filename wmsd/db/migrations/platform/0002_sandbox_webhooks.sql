-- Whether the sandbox companies of an operator may send webhooks.

ALTER TABLE operators ADD COLUMN sandbox_webhooks INTEGER NOT NULL DEFAULT 0 CHECK (sandbox_webhooks IN (0, 1));
