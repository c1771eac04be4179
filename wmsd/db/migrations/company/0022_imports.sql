-- Imports: who took in what, and what is needed to take back the last one.

CREATE TABLE imports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    file_name TEXT NOT NULL,
    upload TEXT UNIQUE,            -- names the upload at the pages, which is taken in once
    actor TEXT NOT NULL,
    created INTEGER NOT NULL DEFAULT 0,
    updated INTEGER NOT NULL DEFAULT 0,
    unchanged INTEGER NOT NULL DEFAULT 0,
    last_change INTEGER NOT NULL DEFAULT 0,  -- of the change sequence, when it was done
    imported_at TEXT NOT NULL,
    undone_at TEXT,
    undone_by TEXT
) STRICT;

-- The ids of the rows that the last import has made in its table: those after `after_id`, up to `last_id`.
CREATE TABLE import_rows (
    import_id INTEGER PRIMARY KEY REFERENCES imports (id),
    table_name TEXT NOT NULL,
    after_id INTEGER NOT NULL,
    last_id INTEGER NOT NULL
) STRICT;

-- The rows that the last import has changed, as they were before: JSON.
CREATE TABLE import_images (
    import_id INTEGER NOT NULL REFERENCES imports (id),
    row_id INTEGER NOT NULL,
    image TEXT NOT NULL,
    PRIMARY KEY (import_id, row_id)
) STRICT, WITHOUT ROWID;

-- The id of a record that was taken back is never given again.
CREATE TABLE ids_given (
    table_name TEXT PRIMARY KEY,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO row_counts (name, rows) VALUES ('imports', 0);
CREATE TRIGGER imports_counted AFTER INSERT ON imports BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'imports';
END;
CREATE TRIGGER imports_uncounted AFTER DELETE ON imports BEGIN
    UPDATE row_counts SET rows = rows - 1 WHERE name = 'imports';
END;

CREATE TRIGGER clients_uncounted AFTER DELETE ON clients BEGIN
    UPDATE row_counts SET rows = rows - 1 WHERE name = 'clients';
END;
CREATE TRIGGER partners_uncounted AFTER DELETE ON partners BEGIN
    UPDATE row_counts SET rows = rows - 1 WHERE name = 'partners';
END;
CREATE TRIGGER warehouses_uncounted AFTER DELETE ON warehouses BEGIN
    UPDATE row_counts SET rows = rows - 1 WHERE name = 'warehouses';
END;
CREATE TRIGGER packaging_types_uncounted AFTER DELETE ON packaging_types BEGIN
    UPDATE row_counts SET rows = rows - 1 WHERE name = 'packaging_types';
END;
CREATE TRIGGER articles_uncounted AFTER DELETE ON articles BEGIN
    UPDATE row_counts SET rows = rows - 1 WHERE name = 'articles';
    DELETE FROM article_search WHERE rowid = old.id;
END;
