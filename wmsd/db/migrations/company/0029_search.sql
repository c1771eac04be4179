-- The search index: every record and lot that people look for by a part of it. A job fills it from what has changed,
-- so that no request waits for it.

CREATE TABLE search_entries (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    key ANY NOT NULL,  -- the id of a record; of a lot or a serial its article's id, a colon, and itself
    digest INTEGER NOT NULL,  -- of the text that the index has, so that a record is indexed again only when it differs
    UNIQUE (kind, key)
) STRICT;

CREATE VIRTUAL TABLE search_index USING fts5 (
    text, tokenize = 'trigram case_sensitive 1', content = '', contentless_delete = 1
);

-- How far the index has come: in the order of changes, and in the stock ledger.
CREATE TABLE search_progress (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    last_change INTEGER NOT NULL,
    last_movement INTEGER NOT NULL
) STRICT;
INSERT INTO search_progress (one, last_change, last_movement) VALUES (1, 0, 0);

-- Clients, partners, warehouses and packaging types get a place in the order of changes, as all other records have.
-- Those of one millisecond get different places; `updated_at` is the millisecond of the place.

ALTER TABLE clients ADD COLUMN change_seq INTEGER;
ALTER TABLE partners ADD COLUMN change_seq INTEGER;
ALTER TABLE warehouses ADD COLUMN change_seq INTEGER;
ALTER TABLE packaging_types ADD COLUMN change_seq INTEGER;

UPDATE clients SET change_seq = placed.place
FROM (
    SELECT id, CAST(round(unixepoch(updated_at, 'subsec') * 1000) AS INTEGER) * 1000
        + row_number() OVER (ORDER BY updated_at, id) AS place
    FROM clients
) AS placed WHERE placed.id = clients.id;
UPDATE clients SET updated_at = strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
    || printf('.%03dZ', change_seq / 1000 % 1000);
CREATE UNIQUE INDEX clients_by_change ON clients (change_seq);

UPDATE partners SET change_seq = placed.place
FROM (
    SELECT id, CAST(round(unixepoch(updated_at, 'subsec') * 1000) AS INTEGER) * 1000
        + row_number() OVER (ORDER BY updated_at, id) AS place
    FROM partners
) AS placed WHERE placed.id = partners.id;
UPDATE partners SET updated_at = strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
    || printf('.%03dZ', change_seq / 1000 % 1000);
CREATE UNIQUE INDEX partners_by_change ON partners (change_seq);

UPDATE warehouses SET change_seq = placed.place
FROM (
    SELECT id, CAST(round(unixepoch(updated_at, 'subsec') * 1000) AS INTEGER) * 1000
        + row_number() OVER (ORDER BY updated_at, id) AS place
    FROM warehouses
) AS placed WHERE placed.id = warehouses.id;
UPDATE warehouses SET updated_at = strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
    || printf('.%03dZ', change_seq / 1000 % 1000);
CREATE UNIQUE INDEX warehouses_by_change ON warehouses (change_seq);

UPDATE packaging_types SET change_seq = placed.place
FROM (
    SELECT id, CAST(round(unixepoch(updated_at, 'subsec') * 1000) AS INTEGER) * 1000
        + row_number() OVER (ORDER BY updated_at, id) AS place
    FROM packaging_types
) AS placed WHERE placed.id = packaging_types.id;
UPDATE packaging_types SET updated_at = strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
    || printf('.%03dZ', change_seq / 1000 % 1000);
CREATE UNIQUE INDEX packaging_types_by_change ON packaging_types (change_seq);

UPDATE change_sequence SET value = max(
    value,
    (SELECT coalesce(max(change_seq), 0) FROM clients),
    (SELECT coalesce(max(change_seq), 0) FROM partners),
    (SELECT coalesce(max(change_seq), 0) FROM warehouses),
    (SELECT coalesce(max(change_seq), 0) FROM packaging_types)
);
