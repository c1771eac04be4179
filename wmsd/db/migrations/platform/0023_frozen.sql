-- A company that is being moved takes no changes and sends no webhooks, so that its export holds everything.

ALTER TABLE companies ADD COLUMN frozen_at TEXT; -- NULL: it is not frozen
