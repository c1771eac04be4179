-- What is known of the wall clock over a stop: whether it can be believed.

CREATE TABLE clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    steady_at TEXT NOT NULL, -- the last moment of a steady clock
    seen_at TEXT NOT NULL, -- the last moment of all
    doubted_since TEXT,
    step_seconds INTEGER, -- by how much it was set
    confirmed INTEGER NOT NULL DEFAULT 0 -- how often a person has said that it is right
) STRICT;
