-- Purchase orders. Decimals are integers of millionths.

-- AUTOINCREMENT: the id of an order that was deleted is never given again.
CREATE TABLE purchase_orders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    code TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL CHECK (status IN ('CREAT', 'PARTIAL', 'RECEPTIONAT', 'ANULAT')),
    partner_id INTEGER NOT NULL REFERENCES partners (id),
    warehouse_id INTEGER NOT NULL REFERENCES warehouses (id),
    external_ref TEXT,
    expected_date TEXT,
    notes TEXT,
    status_history TEXT NOT NULL,  -- JSON: the time of each status reached
    change_seq INTEGER NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX purchase_orders_by_external_ref ON purchase_orders (external_ref)
    WHERE external_ref IS NOT NULL;
CREATE INDEX purchase_orders_by_status ON purchase_orders (status);
CREATE INDEX purchase_orders_by_partner ON purchase_orders (partner_id, status);

-- AUTOINCREMENT: receptions name items, so the id of one that was taken away is never given again.
CREATE TABLE purchase_order_items (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    purchase_order_id INTEGER NOT NULL REFERENCES purchase_orders (id),
    position INTEGER NOT NULL,
    article_id INTEGER NOT NULL REFERENCES articles (id),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    received_quantity INTEGER NOT NULL DEFAULT 0 CHECK (received_quantity >= 0)
) STRICT;

CREATE INDEX purchase_order_items_by_order ON purchase_order_items (purchase_order_id, position);

CREATE TABLE purchase_order_counts (
    status TEXT NOT NULL,
    partner_id INTEGER NOT NULL,
    rows INTEGER NOT NULL CHECK (rows >= 0),
    PRIMARY KEY (partner_id, status)
) STRICT, WITHOUT ROWID;

INSERT INTO row_counts (name, rows) VALUES ('purchase_orders', 0);
CREATE TRIGGER purchase_orders_counted AFTER INSERT ON purchase_orders BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'purchase_orders';
    INSERT INTO purchase_order_counts (status, partner_id, rows) VALUES (new.status, new.partner_id, 1)
    ON CONFLICT (partner_id, status) DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER purchase_orders_counted_again AFTER UPDATE OF status, partner_id ON purchase_orders BEGIN
    UPDATE purchase_order_counts SET rows = rows - 1 WHERE status = old.status AND partner_id = old.partner_id;
    INSERT INTO purchase_order_counts (status, partner_id, rows) VALUES (new.status, new.partner_id, 1)
    ON CONFLICT (partner_id, status) DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER purchase_orders_counted_off AFTER DELETE ON purchase_orders BEGIN
    UPDATE row_counts SET rows = rows - 1 WHERE name = 'purchase_orders';
    UPDATE purchase_order_counts SET rows = rows - 1 WHERE status = old.status AND partner_id = old.partner_id;
END;
