-- Receptions of purchase orders. Decimals are integers of millionths.

-- What holds for the whole company: over_receipt_pct, in millionths of a percent.
CREATE TABLE inbound_rules (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- AUTOINCREMENT: the id of a reception that was deleted is never given again.
CREATE TABLE receptions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    code TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL CHECK (status IN ('CREAT', 'IN_LUCRU', 'FINALIZAT', 'ANULAT')),
    purchase_order_id INTEGER NOT NULL REFERENCES purchase_orders (id),
    warehouse_id INTEGER NOT NULL REFERENCES warehouses (id),
    transport_ecc TEXT,
    external_ref TEXT,
    notes TEXT,
    status_history TEXT NOT NULL,  -- JSON: the time of each status reached
    change_seq INTEGER NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX receptions_by_external_ref ON receptions (external_ref) WHERE external_ref IS NOT NULL;
CREATE INDEX receptions_by_order ON receptions (purchase_order_id, status);
CREATE INDEX receptions_by_status ON receptions (status);

-- AUTOINCREMENT: the ledger names items, so the id of one that was taken away is never given again.
CREATE TABLE reception_items (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    reception_id INTEGER NOT NULL REFERENCES receptions (id),
    position INTEGER NOT NULL,
    po_item_id INTEGER NOT NULL REFERENCES purchase_order_items (id),
    quantity_um3pl INTEGER NOT NULL CHECK (quantity_um3pl > 0),
    quantity INTEGER CHECK (quantity > 0),  -- what was posted, in the article's unit; NULL until then
    lot_number TEXT,
    serial_data TEXT                        -- JSON: one serial for each unit
) STRICT;
CREATE INDEX reception_items_by_reception ON reception_items (reception_id, position);
CREATE INDEX reception_items_by_order_item ON reception_items (po_item_id);

CREATE TABLE reception_counts (
    status TEXT PRIMARY KEY,
    rows INTEGER NOT NULL CHECK (rows >= 0)
) STRICT, WITHOUT ROWID;

INSERT INTO row_counts (name, rows) VALUES ('receptions', 0);
CREATE TRIGGER receptions_counted AFTER INSERT ON receptions BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'receptions';
    INSERT INTO reception_counts (status, rows) VALUES (new.status, 1)
    ON CONFLICT (status) DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER receptions_counted_again AFTER UPDATE OF status ON receptions BEGIN
    UPDATE reception_counts SET rows = rows - 1 WHERE status = old.status;
    INSERT INTO reception_counts (status, rows) VALUES (new.status, 1)
    ON CONFLICT (status) DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER receptions_counted_off AFTER DELETE ON receptions BEGIN
    UPDATE row_counts SET rows = rows - 1 WHERE name = 'receptions';
    UPDATE reception_counts SET rows = rows - 1 WHERE status = old.status;
END;
