-- The second factors of users: the secret of an authenticator app, sealed by the vault, and the hashes of recovery
-- codes, each of which is good once. A secret counts once its user has confirmed it with a code.

CREATE TABLE second_factors (
    user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    secret TEXT NOT NULL,
    is_on INTEGER NOT NULL DEFAULT 0 CHECK (is_on IN (0, 1)),
    last_step INTEGER NOT NULL DEFAULT 0 -- of the last code that was accepted
) STRICT;

CREATE TABLE recovery_codes (
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash TEXT NOT NULL,
    PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER access_version_second_factors_updated AFTER UPDATE OF is_on ON second_factors BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_second_factors_deleted AFTER DELETE ON second_factors BEGIN
    UPDATE access_version SET version = version + 1;
END;
