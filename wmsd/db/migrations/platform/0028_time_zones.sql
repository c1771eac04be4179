-- The time zones that a company and a user have chosen; NULL, and no row: that of the installation, and the company's.

ALTER TABLE companies ADD COLUMN time_zone TEXT;

-- A table of its own, as of their languages: it decides on no access.
CREATE TABLE user_time_zones (
    user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    time_zone TEXT NOT NULL
) STRICT;
