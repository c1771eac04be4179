-- What the files of this installation are known by: it stands in each of them.

CREATE TABLE installation (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL
) STRICT;

INSERT INTO installation (one, id) VALUES (1, lower(hex(randomblob(16))));

-- The log that belongs to this file: each names itself and the one before it (db/write_ahead_log.py).

CREATE TABLE log (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id INTEGER NOT NULL,
    previous INTEGER NOT NULL
) STRICT;

INSERT INTO log (one, id, previous) VALUES (1, random(), 0);
