-- Which lots and serials make up a balance, and which of them open orders name. Decimals are integers of millionths.

-- A lot keeps its row when it is empty, and with it its age: the older, the smaller its id.
CREATE TABLE stock_lots (
    id INTEGER PRIMARY KEY,
    stock_id INTEGER NOT NULL REFERENCES stock (id),
    lot_number TEXT NOT NULL,
    quantity INTEGER NOT NULL DEFAULT 0 CHECK (quantity >= 0),
    reserved INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),  -- by orders that name the lot
    quarantined INTEGER NOT NULL DEFAULT 0 CHECK (quarantined >= 0),
    UNIQUE (stock_id, lot_number),
    CONSTRAINT free_is_never_negative CHECK (quantity - reserved - quarantined >= 0)
) STRICT;
CREATE INDEX stock_lots_there ON stock_lots (stock_id, id) WHERE quantity > 0;

-- Serials that are in stock. One that has left is in the ledger only, and may come back.
CREATE TABLE stock_serials (
    id INTEGER PRIMARY KEY,
    article_id INTEGER NOT NULL REFERENCES articles (id),
    serial TEXT NOT NULL,
    stock_id INTEGER NOT NULL REFERENCES stock (id),
    lot_number TEXT,
    quarantined INTEGER NOT NULL DEFAULT 0 CHECK (quarantined IN (0, 1)),
    sales_order_id INTEGER REFERENCES sales_orders (id),  -- the open order that names it
    UNIQUE (article_id, serial),
    CONSTRAINT held_or_quarantined CHECK (sales_order_id IS NULL OR NOT quarantined)
) STRICT;
CREATE INDEX stock_serials_by_lot ON stock_serials (stock_id, lot_number, id);
CREATE INDEX stock_serials_by_order ON stock_serials (sales_order_id) WHERE sales_order_id IS NOT NULL;

-- What an open order holds of a lot that it names, within what it holds of the stock record.
CREATE TABLE lot_reservations (
    sales_order_id INTEGER NOT NULL REFERENCES sales_orders (id),
    lot_id INTEGER NOT NULL REFERENCES stock_lots (id),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (sales_order_id, lot_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX lot_reservations_by_lot ON lot_reservations (lot_id);

ALTER TABLE sales_order_lines ADD COLUMN lot_number TEXT;
ALTER TABLE sales_order_lines ADD COLUMN serials TEXT;  -- JSON: the serials that it names

CREATE INDEX stock_movements_by_document ON stock_movements (document_id, kind) WHERE document_id IS NOT NULL;
