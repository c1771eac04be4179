-- Sites: warehouses whose transport planner signs in with a bearer of its own. Of a token only its SHA-256 is kept.

CREATE TABLE sites (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id INTEGER NOT NULL REFERENCES companies (id),
    warehouse_id INTEGER NOT NULL,      -- in the company's file, as is the code, which never changes
    warehouse_code TEXT NOT NULL,
    name TEXT NOT NULL,
    token_hash BLOB,                    -- NULL: revoked
    previous_token_hash BLOB,           -- good too until it expires
    previous_expires_at TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (company_id, warehouse_id),
    CHECK ((previous_token_hash IS NULL) = (previous_expires_at IS NULL))
) STRICT;
