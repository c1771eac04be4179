-- The day after: what a restore could not bring back, and what access it may have brought back. Each entry is open
-- until somebody has done it. What is done elsewhere, such as a new token, ticks its entry off in the same
-- transaction, whoever does it.

CREATE TABLE recoveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    began_at TEXT NOT NULL,             -- of the restore, or of the opening that made the keys anew
    access_unknown_after TEXT,          -- whom somebody shut out after that moment is not known; NULL: all is known
    keys_lost INTEGER NOT NULL DEFAULT 0 CHECK (keys_lost IN (0, 1)),
    last_token_id INTEGER NOT NULL DEFAULT 0, -- tokens up to this one were lost with the keys
    is_listed INTEGER NOT NULL DEFAULT 0 CHECK (is_listed IN (0, 1)) -- its entries are made at the next opening
) STRICT;

CREATE TABLE recovery_entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    recovery_id INTEGER NOT NULL REFERENCES recoveries (id),
    kind TEXT NOT NULL CHECK (
        kind IN ('token', 'webhook', 'second-factor', 'company', 'user', 'site', 'platform-token')
    ),
    key TEXT NOT NULL,                  -- what it is about, among those of its kind
    user_id INTEGER,
    company_id INTEGER,
    record_id INTEGER,                  -- of a webhook, a site or a platform token
    subject TEXT NOT NULL,              -- the user, or the company's code
    name TEXT NOT NULL,                 -- of the token, the webhook, the site; the role of a user
    host TEXT,                          -- of a webhook's receiver
    last_used_at TEXT,
    found_at TEXT NOT NULL,
    done_at TEXT,
    done_as TEXT CHECK (done_as IN ('renewed', 'dismissed', 'confirmed', 'ended', 'gone')),
    done_by TEXT,                       -- NULL: it was ticked off by what was done elsewhere
    CHECK ((done_at IS NULL) = (done_as IS NULL))
) STRICT;

CREATE UNIQUE INDEX recovery_entries_open ON recovery_entries (kind, key) WHERE done_at IS NULL;

CREATE TRIGGER recovery_token_made AFTER INSERT ON tokens WHEN NOT new.signed_in BEGIN
    UPDATE recovery_entries SET done_at = new.created_at, done_as = 'renewed'
    WHERE done_at IS NULL AND kind = 'token' AND user_id = new.user_id AND name = new.name;
END;

CREATE TRIGGER recovery_second_factor_removed AFTER DELETE ON second_factors BEGIN
    UPDATE recovery_entries SET done_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), done_as = 'renewed'
    WHERE done_at IS NULL AND kind = 'second-factor' AND user_id = old.user_id;
END;

CREATE TRIGGER recovery_user_disabled AFTER UPDATE OF disabled_at ON users WHEN new.disabled_at IS NOT NULL BEGIN
    UPDATE recovery_entries SET done_at = new.disabled_at, done_as = iif(kind = 'user', 'ended', 'gone')
    WHERE done_at IS NULL AND kind IN ('user', 'token', 'second-factor') AND user_id = new.id;
END;

CREATE TRIGGER recovery_user_deleted AFTER DELETE ON users BEGIN
    UPDATE recovery_entries
    SET done_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), done_as = iif(kind = 'user', 'ended', 'gone')
    WHERE done_at IS NULL AND kind IN ('user', 'token', 'second-factor') AND user_id = old.id;
END;

-- A bearer that was only renewed goes on for a while.
CREATE TRIGGER recovery_site_ended AFTER UPDATE OF token_hash ON sites
    WHEN new.token_hash IS NOT old.token_hash AND new.previous_token_hash IS NULL
BEGIN
    UPDATE recovery_entries SET done_at = new.updated_at, done_as = 'ended'
    WHERE done_at IS NULL AND kind = 'site' AND record_id = new.id;
END;

CREATE TRIGGER recovery_site_deleted AFTER DELETE ON sites BEGIN
    UPDATE recovery_entries SET done_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), done_as = 'gone'
    WHERE done_at IS NULL AND kind = 'site' AND record_id = old.id;
END;

CREATE TRIGGER recovery_platform_token_ended AFTER UPDATE OF revoked_at ON kernel_tokens
    WHEN new.revoked_at IS NOT NULL
BEGIN
    UPDATE recovery_entries SET done_at = new.revoked_at, done_as = 'ended'
    WHERE done_at IS NULL AND kind = 'platform-token' AND record_id = new.id;
END;

CREATE TRIGGER recovery_company_deleted AFTER DELETE ON companies BEGIN
    UPDATE recovery_entries SET done_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), done_as = 'gone'
    WHERE done_at IS NULL AND company_id = old.id;
END;
