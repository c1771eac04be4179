-- Who made each document, moved it and changed its fields. What was done before this migration is not here.

CREATE TABLE document_changes (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,         -- the first part of its events' names
    document_id INTEGER NOT NULL,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    what TEXT NOT NULL CHECK (what IN ('created', 'moved', 'changed')),
    status TEXT,                -- that it was made in, or moved to
    changes TEXT                -- JSON: the fields before and after
) STRICT;

CREATE INDEX document_changes_by_document ON document_changes (kind, document_id);
