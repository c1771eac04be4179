-- The language that somebody has chosen for the pages. A table of its own: it decides on no access.

CREATE TABLE user_languages (
    user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    language TEXT NOT NULL
) STRICT;
