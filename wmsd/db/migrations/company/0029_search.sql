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
-- Those of one millisecond get different places in it. `updated_at` is the millisecond of the place: it differs from
-- before only where a millisecond has more than 999 of them, as after an import, which can still be taken back.

ALTER TABLE clients ADD COLUMN change_seq INTEGER;
ALTER TABLE partners ADD COLUMN change_seq INTEGER;
ALTER TABLE warehouses ADD COLUMN change_seq INTEGER;
ALTER TABLE packaging_types ADD COLUMN change_seq INTEGER;

UPDATE clients SET change_seq = placed.place
FROM (
    SELECT id, number + max(millisecond * 1000 + 1 - number) OVER (ORDER BY number) AS place
    FROM (
        SELECT id, CAST(round(unixepoch(updated_at, 'subsec') * 1000) AS INTEGER) AS millisecond,
            row_number() OVER (ORDER BY updated_at, id) AS number
        FROM clients
    )
) AS placed WHERE placed.id = clients.id;
UPDATE imports SET last_change = (
    SELECT coalesce(max(change_seq), last_change) FROM clients WHERE updated_at <= imported_at
) WHERE id IN (SELECT import_id FROM import_rows WHERE table_name = 'clients');
UPDATE clients SET updated_at = strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
    || printf('.%03dZ', change_seq / 1000 % 1000);
CREATE UNIQUE INDEX clients_by_change ON clients (change_seq);

UPDATE partners SET change_seq = placed.place
FROM (
    SELECT id, number + max(millisecond * 1000 + 1 - number) OVER (ORDER BY number) AS place
    FROM (
        SELECT id, CAST(round(unixepoch(updated_at, 'subsec') * 1000) AS INTEGER) AS millisecond,
            row_number() OVER (ORDER BY updated_at, id) AS number
        FROM partners
    )
) AS placed WHERE placed.id = partners.id;
UPDATE imports SET last_change = (
    SELECT coalesce(max(change_seq), last_change) FROM partners WHERE updated_at <= imported_at
) WHERE id IN (SELECT import_id FROM import_rows WHERE table_name = 'partners');
UPDATE partners SET updated_at = strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
    || printf('.%03dZ', change_seq / 1000 % 1000);
CREATE UNIQUE INDEX partners_by_change ON partners (change_seq);

UPDATE warehouses SET change_seq = placed.place
FROM (
    SELECT id, number + max(millisecond * 1000 + 1 - number) OVER (ORDER BY number) AS place
    FROM (
        SELECT id, CAST(round(unixepoch(updated_at, 'subsec') * 1000) AS INTEGER) AS millisecond,
            row_number() OVER (ORDER BY updated_at, id) AS number
        FROM warehouses
    )
) AS placed WHERE placed.id = warehouses.id;
UPDATE imports SET last_change = (
    SELECT coalesce(max(change_seq), last_change) FROM warehouses WHERE updated_at <= imported_at
) WHERE id IN (SELECT import_id FROM import_rows WHERE table_name = 'warehouses');
UPDATE warehouses SET updated_at = strftime('%Y-%m-%dT%H:%M:%S', change_seq / 1000000, 'unixepoch')
    || printf('.%03dZ', change_seq / 1000 % 1000);
CREATE UNIQUE INDEX warehouses_by_change ON warehouses (change_seq);

UPDATE packaging_types SET change_seq = placed.place
FROM (
    SELECT id, number + max(millisecond * 1000 + 1 - number) OVER (ORDER BY number) AS place
    FROM (
        SELECT id, CAST(round(unixepoch(updated_at, 'subsec') * 1000) AS INTEGER) AS millisecond,
            row_number() OVER (ORDER BY updated_at, id) AS number
        FROM packaging_types
    )
) AS placed WHERE placed.id = packaging_types.id;
UPDATE imports SET last_change = (
    SELECT coalesce(max(change_seq), last_change) FROM packaging_types WHERE updated_at <= imported_at
) WHERE id IN (SELECT import_id FROM import_rows WHERE table_name = 'packaging_types');
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

-- What is deleted is found no more, and takes no place among what is found.

CREATE TRIGGER sales_orders_not_found AFTER DELETE ON sales_orders BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'sales-orders' AND key = old.id);
    DELETE FROM search_entries WHERE kind = 'sales-orders' AND key = old.id;
END;

CREATE TRIGGER purchase_orders_not_found AFTER DELETE ON purchase_orders BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'purchase-orders' AND key = old.id);
    DELETE FROM search_entries WHERE kind = 'purchase-orders' AND key = old.id;
END;

CREATE TRIGGER receptions_not_found AFTER DELETE ON receptions BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'receptions' AND key = old.id);
    DELETE FROM search_entries WHERE kind = 'receptions' AND key = old.id;
END;

CREATE TRIGGER returns_not_found AFTER DELETE ON returns BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'returns' AND key = old.id);
    DELETE FROM search_entries WHERE kind = 'returns' AND key = old.id;
END;

CREATE TRIGGER articles_not_found AFTER DELETE ON articles BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'articles' AND key = old.id);
    DELETE FROM search_entries WHERE kind = 'articles' AND key = old.id;
END;

CREATE TRIGGER partners_not_found AFTER DELETE ON partners BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'partners' AND key = old.id);
    DELETE FROM search_entries WHERE kind = 'partners' AND key = old.id;
END;

CREATE TRIGGER clients_not_found AFTER DELETE ON clients BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'clients' AND key = old.id);
    DELETE FROM search_entries WHERE kind = 'clients' AND key = old.id;
END;

CREATE TRIGGER warehouses_not_found AFTER DELETE ON warehouses BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'warehouses' AND key = old.id);
    DELETE FROM search_entries WHERE kind = 'warehouses' AND key = old.id;
END;

CREATE TRIGGER packaging_types_not_found AFTER DELETE ON packaging_types BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'packaging-types' AND key = old.id);
    DELETE FROM search_entries WHERE kind = 'packaging-types' AND key = old.id;
END;
