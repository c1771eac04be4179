-- Articles, and the index that their search reads. Decimals are integers of millionths.

CREATE TABLE articles (
    id INTEGER PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    description TEXT,
    barcode TEXT,
    barcodes TEXT NOT NULL,
    unit_3pl TEXT,
    um3pl_factor INTEGER NOT NULL CHECK (um3pl_factor > 0),
    min_stock INTEGER CHECK (min_stock >= 0),
    track_lot INTEGER NOT NULL CHECK (track_lot IN (0, 1)),
    track_serial INTEGER NOT NULL CHECK (track_serial IN (0, 1)),
    weight_kg INTEGER CHECK (weight_kg >= 0),
    length_mm INTEGER CHECK (length_mm >= 0),
    width_mm INTEGER CHECK (width_mm >= 0),
    height_mm INTEGER CHECK (height_mm >= 0),
    over_receipt_pct INTEGER CHECK (over_receipt_pct >= 0),
    active INTEGER NOT NULL CHECK (active IN (0, 1)),
    client_id INTEGER REFERENCES clients (id),
    external_ref TEXT,
    change_seq INTEGER NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX articles_by_external_ref ON articles (external_ref) WHERE external_ref IS NOT NULL;
CREATE INDEX articles_by_client ON articles (client_id) WHERE client_id IS NOT NULL;

CREATE TRIGGER articles_counted AFTER INSERT ON articles BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'articles';
END;

CREATE VIRTUAL TABLE article_search USING fts5 (
    code, name, barcodes, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TRIGGER articles_searchable AFTER INSERT ON articles BEGIN
    INSERT INTO article_search (rowid, code, name, barcodes)
    VALUES (new.id, new.code, new.name, coalesce(new.barcode, '') || ' ' || new.barcodes);
END;
CREATE TRIGGER articles_searchable_again AFTER UPDATE OF code, name, barcode, barcodes ON articles BEGIN
    DELETE FROM article_search WHERE rowid = old.id;
    INSERT INTO article_search (rowid, code, name, barcodes)
    VALUES (new.id, new.code, new.name, coalesce(new.barcode, '') || ' ' || new.barcodes);
END;
