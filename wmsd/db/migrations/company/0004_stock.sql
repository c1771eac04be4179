-- Stock: the balances, and the append-only ledger whose sums they are. Decimals are integers of millionths.

CREATE TABLE stock (
    id INTEGER PRIMARY KEY,
    article_id INTEGER NOT NULL REFERENCES articles (id),
    warehouse_id INTEGER NOT NULL REFERENCES warehouses (id),
    quantity INTEGER NOT NULL DEFAULT 0 CHECK (quantity BETWEEN 0 AND 999999999999999),
    reserved INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    quarantined INTEGER NOT NULL DEFAULT 0 CHECK (quarantined >= 0),
    is_low INTEGER NOT NULL DEFAULT 0 CHECK (is_low IN (0, 1)),
    change_seq INTEGER NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (article_id, warehouse_id),
    CONSTRAINT available_is_never_negative CHECK (quantity - reserved - quarantined >= 0)
) STRICT;

CREATE INDEX stock_by_warehouse ON stock (warehouse_id);

CREATE TRIGGER stock_counted AFTER INSERT ON stock BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'stock';
END;

CREATE TABLE stock_movements (
    id INTEGER PRIMARY KEY,
    stock_id INTEGER NOT NULL REFERENCES stock (id),
    quantity INTEGER NOT NULL,     -- what the balance gains or loses
    quarantined INTEGER NOT NULL,  -- what of it enters or leaves quarantine
    lot_number TEXT,
    serial TEXT,
    kind TEXT NOT NULL,
    document_id INTEGER,
    document_line_id INTEGER,
    reason TEXT,
    actor TEXT NOT NULL,
    occurred_at TEXT NOT NULL
) STRICT;

CREATE INDEX stock_movements_by_stock ON stock_movements (stock_id, id);

CREATE TRIGGER stock_movements_are_never_changed BEFORE UPDATE ON stock_movements BEGIN
    SELECT raise(ABORT, 'the stock ledger is append-only');
END;
CREATE TRIGGER stock_movements_are_never_deleted BEFORE DELETE ON stock_movements BEGIN
    SELECT raise(ABORT, 'the stock ledger is append-only');
END;
