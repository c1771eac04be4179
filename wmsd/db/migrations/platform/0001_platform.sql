-- Operators, companies, modules, users, tokens: what all companies share.

CREATE TABLE operators (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    sandbox INTEGER NOT NULL DEFAULT 0 CHECK (sandbox IN (0, 1)),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE companies (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    operator_id INTEGER REFERENCES operators (id),
    sandbox INTEGER NOT NULL DEFAULT 0 CHECK (sandbox IN (0, 1)),
    requests_per_minute INTEGER CHECK (requests_per_minute > 0),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE company_modules (
    company_id INTEGER NOT NULL REFERENCES companies (id),
    module TEXT NOT NULL,
    PRIMARY KEY (company_id, module)
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('platform-admin', 'company-admin', 'member')),
    abilities TEXT NOT NULL,
    disabled_at TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE user_companies (
    user_id INTEGER NOT NULL REFERENCES users (id),
    company_id INTEGER NOT NULL REFERENCES companies (id),
    PRIMARY KEY (user_id, company_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    jti TEXT NOT NULL UNIQUE,
    user_id INTEGER NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    abilities TEXT NOT NULL,
    company_ids TEXT, -- NULL: every company of its user
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    last_used_at TEXT,
    revoked_at TEXT
) STRICT;

CREATE INDEX tokens_by_user ON tokens (user_id);
CREATE INDEX tokens_by_expiry ON tokens (expires_at);

CREATE TABLE signing_keys (
    position INTEGER PRIMARY KEY AUTOINCREMENT, -- the newest signs
    kid TEXT NOT NULL UNIQUE,
    secret TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL
) STRICT;
