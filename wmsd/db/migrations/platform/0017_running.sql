-- What admins see of the running house: where the bearers of sites and the platform tokens were last used from, and of
-- which tokens it was told that they end soon.

ALTER TABLE sites ADD COLUMN last_used_at TEXT;
ALTER TABLE sites ADD COLUMN last_used_from TEXT;
ALTER TABLE kernel_tokens ADD COLUMN last_used_at TEXT;
ALTER TABLE kernel_tokens ADD COLUMN last_used_from TEXT;

-- When something was last used decides on no access.
DROP TRIGGER access_version_sites_updated;
CREATE TRIGGER access_version_sites_updated
AFTER UPDATE OF company_id, warehouse_id, warehouse_code, name, token_hash, previous_token_hash, previous_expires_at
ON sites BEGIN
    UPDATE access_version SET version = version + 1;
END;
DROP TRIGGER access_version_kernel_tokens_updated;
CREATE TRIGGER access_version_kernel_tokens_updated
AFTER UPDATE OF hash, expires_at, revoked_at ON kernel_tokens BEGIN
    UPDATE access_version SET version = version + 1;
END;

ALTER TABLE tokens ADD COLUMN told_days INTEGER;                -- how many days were left when the log told of its end
ALTER TABLE tokens ADD COLUMN renewed INTEGER NOT NULL DEFAULT 0; -- its program has signed in again since

-- Programs that sign in again and again under one name leave tokens whose end matters to nobody.
CREATE INDEX tokens_signed_in ON tokens (user_id, name) WHERE signed_in AND NOT renewed;
UPDATE tokens SET renewed = 1 WHERE signed_in AND EXISTS (
    SELECT 1 FROM tokens AS newer
    WHERE newer.user_id = tokens.user_id AND newer.name = tokens.name AND newer.signed_in AND newer.id > tokens.id
        AND newer.revoked_at IS NULL
);
CREATE TRIGGER tokens_renewed AFTER INSERT ON tokens WHEN new.signed_in BEGIN
    UPDATE tokens SET renewed = 1
    WHERE user_id = new.user_id AND name = new.name AND signed_in AND NOT renewed AND id <> new.id;
END;
CREATE TRIGGER tokens_last_again AFTER UPDATE OF revoked_at ON tokens
WHEN new.signed_in AND NOT new.renewed AND new.revoked_at IS NOT NULL BEGIN
    UPDATE tokens SET renewed = 0 WHERE id = (
        SELECT max(id) FROM tokens
        WHERE user_id = new.user_id AND name = new.name AND signed_in AND revoked_at IS NULL
    );
END;
CREATE INDEX tokens_ending ON tokens (expires_at) WHERE revoked_at IS NULL AND NOT renewed;
