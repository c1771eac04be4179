-- The platform tokens of the kernel interface, and how many requests each company has made.

CREATE TABLE kernel_tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash TEXT NOT NULL UNIQUE,  -- SHA-256 of the token, which itself is not kept
    created_at TEXT NOT NULL,
    expires_at TEXT,            -- NULL: not before it is replaced or revoked
    revoked_at TEXT
) STRICT;

CREATE TABLE request_counts (
    company_id INTEGER PRIMARY KEY REFERENCES companies (id),
    requests INTEGER NOT NULL CHECK (requests >= 0),
    since TEXT NOT NULL
) STRICT;
