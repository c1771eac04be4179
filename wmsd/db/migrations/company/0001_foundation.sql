-- What every kind of record relies on: the change sequence, the counts, the outbox.

CREATE TABLE change_sequence (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    value INTEGER NOT NULL
) STRICT;
INSERT INTO change_sequence (one, value) VALUES (1, 0);

CREATE TABLE row_counts (
    name TEXT PRIMARY KEY,
    rows INTEGER NOT NULL CHECK (rows >= 0)
) STRICT, WITHOUT ROWID;
INSERT INTO row_counts (name, rows)
VALUES ('clients', 0), ('partners', 0), ('warehouses', 0), ('articles', 0), ('stock', 0);

CREATE TABLE events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(16)))),
    event TEXT NOT NULL,
    entity TEXT NOT NULL,
    entity_id INTEGER NOT NULL,
    occurred_at TEXT NOT NULL,
    data TEXT NOT NULL
) STRICT;

CREATE TABLE event_counts (
    month TEXT NOT NULL,
    event TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (month, event)
) STRICT, WITHOUT ROWID;
