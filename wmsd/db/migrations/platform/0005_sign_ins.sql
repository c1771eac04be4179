-- From where each user has signed in, and which tokens were made by signing in.

CREATE TABLE sign_in_addresses (
    position INTEGER PRIMARY KEY AUTOINCREMENT, -- the highest is the most recent
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    address TEXT NOT NULL,
    UNIQUE (user_id, address)
) STRICT;

ALTER TABLE tokens ADD COLUMN signed_in INTEGER NOT NULL DEFAULT 0 CHECK (signed_in IN (0, 1)); -- 0: made by an admin

-- What an admin made stands in the audit.
UPDATE tokens SET signed_in =
    ((SELECT email FROM users WHERE users.id = tokens.user_id), 'token.create ' || tokens.name)
    NOT IN (SELECT subject, action FROM audit);
