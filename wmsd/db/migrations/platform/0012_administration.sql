-- What the pages of admins need: one-time links to a first or a new password, where tokens were used from, what people
-- call the installation, and in the audit the address, and what was before and after.

CREATE TABLE invitations (
    user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hash TEXT NOT NULL UNIQUE, -- SHA-256 of the code in the link, which itself is not kept
    expires_at TEXT NOT NULL
) STRICT;

ALTER TABLE tokens ADD COLUMN last_used_from TEXT;

ALTER TABLE audit ADD COLUMN address TEXT;
ALTER TABLE audit ADD COLUMN details TEXT; -- JSON: by field, what was before and after

ALTER TABLE installation ADD COLUMN name TEXT; -- NULL: nobody has named it
