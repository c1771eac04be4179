-- What the files of this installation are known by: it stands in each of them.

CREATE TABLE installation (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL
) STRICT;

INSERT INTO installation (one, id) VALUES (1, lower(hex(randomblob(16))));
