-- Sales orders, what they hold of the stock, and the series that documents are numbered by.
-- Decimals are integers of millionths.

CREATE TABLE series (
    name TEXT PRIMARY KEY,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sales_orders (
    id INTEGER PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL CHECK (status IN ('CREAT', 'IN_LUCRU', 'INCARCAT', 'LIVRAT', 'ANULAT')),
    partner_id INTEGER NOT NULL REFERENCES partners (id),
    warehouse_id INTEGER NOT NULL REFERENCES warehouses (id),
    client_id INTEGER REFERENCES clients (id),
    external_ref TEXT,
    notes TEXT,
    requested_date TEXT,
    status_history TEXT NOT NULL,  -- JSON: the time of each status reached
    change_seq INTEGER NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX sales_orders_by_external_ref ON sales_orders (external_ref) WHERE external_ref IS NOT NULL;
CREATE INDEX sales_orders_by_status ON sales_orders (status);
CREATE INDEX sales_orders_by_partner ON sales_orders (partner_id, status);

-- AUTOINCREMENT: the ledger names lines, so the id of one that was replaced is never given again.
CREATE TABLE sales_order_lines (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sales_order_id INTEGER NOT NULL REFERENCES sales_orders (id),
    position INTEGER NOT NULL,
    article_id INTEGER NOT NULL REFERENCES articles (id),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    warehouse_id INTEGER NOT NULL REFERENCES warehouses (id),
    UNIQUE (sales_order_id, position)
) STRICT;

-- What an open order holds of a stock record: `stock.reserved` is the sum.
CREATE TABLE reservations (
    sales_order_id INTEGER NOT NULL REFERENCES sales_orders (id),
    stock_id INTEGER NOT NULL REFERENCES stock (id),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (sales_order_id, stock_id)
) STRICT, WITHOUT ROWID;

-- How many orders there are of a status and partner, so that the total of a list costs nothing.
CREATE TABLE sales_order_counts (
    status TEXT NOT NULL,
    partner_id INTEGER NOT NULL,
    rows INTEGER NOT NULL CHECK (rows >= 0),
    PRIMARY KEY (partner_id, status)
) STRICT, WITHOUT ROWID;

INSERT INTO row_counts (name, rows) VALUES ('sales_orders', 0);
CREATE TRIGGER sales_orders_counted AFTER INSERT ON sales_orders BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'sales_orders';
    INSERT INTO sales_order_counts (status, partner_id, rows) VALUES (new.status, new.partner_id, 1)
    ON CONFLICT (partner_id, status) DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER sales_orders_counted_again AFTER UPDATE OF status, partner_id ON sales_orders BEGIN
    UPDATE sales_order_counts SET rows = rows - 1 WHERE status = old.status AND partner_id = old.partner_id;
    INSERT INTO sales_order_counts (status, partner_id, rows) VALUES (new.status, new.partner_id, 1)
    ON CONFLICT (partner_id, status) DO UPDATE SET rows = rows + 1;
END;
