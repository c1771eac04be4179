-- Whose file this is. It is written down when the file is made, or first opened by a program that knows this table,
-- and looked at whenever the file is opened.

CREATE TABLE owner (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    installation TEXT NOT NULL,
    company_id INTEGER NOT NULL,
    code TEXT NOT NULL
) STRICT;
