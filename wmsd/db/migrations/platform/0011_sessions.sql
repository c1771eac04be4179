-- Who is signed in to the pages. Only the hash of a session's secret is kept. A session ends with its row.

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    user_id INTEGER NOT NULL REFERENCES users (id),
    made_at TEXT NOT NULL,
    seen_at TEXT NOT NULL,
    address TEXT NOT NULL,
    agent TEXT NOT NULL
) STRICT;

CREATE INDEX sessions_by_user ON sessions (user_id, id);

CREATE TRIGGER access_version_sessions_deleted AFTER DELETE ON sessions
BEGIN
    UPDATE access_version SET version = version + 1;
END;
