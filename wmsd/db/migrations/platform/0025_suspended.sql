-- A company that a platform admin has suspended is used by nobody. Its data stay.

ALTER TABLE companies ADD COLUMN suspended_at TEXT; -- NULL: it is not suspended
ALTER TABLE companies ADD COLUMN suspended_because TEXT; -- what its people are told
