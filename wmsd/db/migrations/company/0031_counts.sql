-- Counts of stock as documents. Decimals are integers of millionths.

CREATE TABLE counts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    code TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL CHECK (status IN ('CREAT', 'IN_LUCRU', 'FINALIZAT', 'ANULAT')),
    warehouse_id INTEGER NOT NULL REFERENCES warehouses (id),
    is_blind INTEGER NOT NULL CHECK (is_blind IN (0, 1)),
    external_ref TEXT,
    notes TEXT,
    status_history TEXT NOT NULL,  -- JSON: the time of each status reached
    change_seq INTEGER NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX counts_by_external_ref ON counts (external_ref) WHERE external_ref IS NOT NULL;
CREATE INDEX counts_by_status ON counts (status);
CREATE INDEX counts_by_warehouse ON counts (warehouse_id, status);

-- AUTOINCREMENT: the ledger names lines, so the id of one that was taken away is never given again.
CREATE TABLE count_lines (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    count_id INTEGER NOT NULL REFERENCES counts (id),
    position INTEGER NOT NULL,
    article_id INTEGER NOT NULL REFERENCES articles (id),
    lot_number TEXT,
    serial TEXT,
    expected_quantity INTEGER NOT NULL,  -- what the ledger had when the line was put on the list
    counted_quantity INTEGER CHECK (counted_quantity >= 0),  -- NULL: not counted yet
    counted_at TEXT,                     -- by the clock of whoever counted
    arrived_at TEXT,                     -- when the counted quantity arrived here
    ledger_quantity INTEGER,             -- what the ledger had then
    last_movement INTEGER NOT NULL,      -- the last movement of the ledger then; until then, when the line was made
    count_again INTEGER NOT NULL CHECK (count_again IN (0, 1)),
    booked_quantity INTEGER,             -- what was booked; NULL: nothing of this line
    CHECK ((counted_quantity IS NULL) = (arrived_at IS NULL)),
    CHECK ((counted_quantity IS NULL) = (ledger_quantity IS NULL))
) STRICT;
CREATE INDEX count_lines_by_count ON count_lines (count_id, position);
CREATE UNIQUE INDEX count_lines_by_part
    ON count_lines (article_id, count_id, ifnull(lot_number, ''), ifnull(serial, ''));

CREATE TABLE count_counts (
    status TEXT PRIMARY KEY,
    rows INTEGER NOT NULL CHECK (rows >= 0)
) STRICT, WITHOUT ROWID;

INSERT INTO row_counts (name, rows) VALUES ('counts', 0);
CREATE TRIGGER counts_counted AFTER INSERT ON counts BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'counts';
    INSERT INTO count_counts (status, rows) VALUES (new.status, 1)
    ON CONFLICT (status) DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER counts_counted_again AFTER UPDATE OF status ON counts BEGIN
    UPDATE count_counts SET rows = rows - 1 WHERE status = old.status;
    INSERT INTO count_counts (status, rows) VALUES (new.status, 1)
    ON CONFLICT (status) DO UPDATE SET rows = rows + 1;
END;

CREATE TRIGGER counts_not_found AFTER DELETE ON counts BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'counts' AND key = old.id);
    DELETE FROM search_entries WHERE kind = 'counts' AND key = old.id;
END;
