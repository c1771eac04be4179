-- The answers of writing requests that carried an Idempotency-Key, kept for their repetition.

CREATE TABLE idempotency_keys (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL UNIQUE,  -- user, method, path and key
    request_hash BLOB NOT NULL,
    status INTEGER NOT NULL,
    headers TEXT NOT NULL,       -- JSON: Location, ETag
    body BLOB NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
