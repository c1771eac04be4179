-- Returns, of sales orders or free. Decimals are integers of millionths.

CREATE TABLE returns (
    id INTEGER PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL CHECK (status IN ('CREAT', 'RECEPTIONAT', 'FINALIZAT', 'ANULAT')),
    partner_id INTEGER NOT NULL REFERENCES partners (id),
    warehouse_id INTEGER NOT NULL REFERENCES warehouses (id),
    sales_order_id INTEGER REFERENCES sales_orders (id),
    reason TEXT,
    external_ref TEXT,
    notes TEXT,
    status_history TEXT NOT NULL,  -- JSON: the time of each status reached
    change_seq INTEGER NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX returns_by_external_ref ON returns (external_ref) WHERE external_ref IS NOT NULL;
CREATE INDEX returns_by_status ON returns (status);
CREATE INDEX returns_by_partner ON returns (partner_id, status);
CREATE INDEX returns_by_order ON returns (sales_order_id) WHERE sales_order_id IS NOT NULL;

-- AUTOINCREMENT: the ledger names lines, so the id of one that was taken away is never given again.
CREATE TABLE return_lines (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    return_id INTEGER NOT NULL REFERENCES returns (id),
    position INTEGER NOT NULL,
    article_id INTEGER NOT NULL REFERENCES articles (id),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    disposition TEXT CHECK (disposition IN ('RESTOC', 'CARANTINA', 'DISTRUS')),
    lot_number TEXT,
    serials TEXT  -- JSON: the serials that came back, one for each unit
) STRICT;
CREATE INDEX return_lines_by_return ON return_lines (return_id, position);

-- What came back and was destroyed: it never was part of a balance.
ALTER TABLE stock_movements ADD COLUMN destroyed INTEGER NOT NULL DEFAULT 0;

CREATE TABLE return_counts (
    status TEXT NOT NULL,
    partner_id INTEGER NOT NULL,
    rows INTEGER NOT NULL CHECK (rows >= 0),
    PRIMARY KEY (partner_id, status)
) STRICT, WITHOUT ROWID;

INSERT INTO row_counts (name, rows) VALUES ('returns', 0);
CREATE TRIGGER returns_counted AFTER INSERT ON returns BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'returns';
    INSERT INTO return_counts (status, partner_id, rows) VALUES (new.status, new.partner_id, 1)
    ON CONFLICT (partner_id, status) DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER returns_counted_again AFTER UPDATE OF status, partner_id ON returns BEGIN
    UPDATE return_counts SET rows = rows - 1 WHERE status = old.status AND partner_id = old.partner_id;
    INSERT INTO return_counts (status, partner_id, rows) VALUES (new.status, new.partner_id, 1)
    ON CONFLICT (partner_id, status) DO UPDATE SET rows = rows + 1;
END;
