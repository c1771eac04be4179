-- Whose file this is. It is written down when the file is made, or first opened by a program that knows this table,
-- and looked at whenever the file is opened.

CREATE TABLE owner (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    installation TEXT NOT NULL,
    company_id INTEGER NOT NULL,
    code TEXT NOT NULL
) STRICT;

-- The log that belongs to the file: each names itself and the one before it (db/write_ahead_log.py).

CREATE TABLE log (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id INTEGER NOT NULL,
    previous INTEGER NOT NULL
) STRICT;

INSERT INTO log (one, id, previous) VALUES (1, random(), 0);
