-- A document of any kind may hold stock, not sales orders only. `holder_kind` is the first part of its events' names.

CREATE TABLE held_by_documents (
    holder_kind TEXT NOT NULL,
    holder_id INTEGER NOT NULL,
    stock_id INTEGER NOT NULL REFERENCES stock (id),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (holder_kind, holder_id, stock_id)
) STRICT, WITHOUT ROWID;
INSERT INTO held_by_documents SELECT 'sales_order', sales_order_id, stock_id, quantity FROM reservations;
DROP TABLE reservations;
ALTER TABLE held_by_documents RENAME TO reservations;

CREATE TABLE lots_held_by_documents (
    holder_kind TEXT NOT NULL,
    holder_id INTEGER NOT NULL,
    lot_id INTEGER NOT NULL REFERENCES stock_lots (id),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (holder_kind, holder_id, lot_id)
) STRICT, WITHOUT ROWID;
INSERT INTO lots_held_by_documents SELECT 'sales_order', sales_order_id, lot_id, quantity FROM lot_reservations;
DROP TABLE lot_reservations;
ALTER TABLE lots_held_by_documents RENAME TO lot_reservations;
CREATE INDEX lot_reservations_by_lot ON lot_reservations (lot_id);

CREATE TABLE serials_held_by_documents (
    id INTEGER PRIMARY KEY,
    article_id INTEGER NOT NULL REFERENCES articles (id),
    serial TEXT NOT NULL,
    stock_id INTEGER NOT NULL REFERENCES stock (id),
    lot_number TEXT,
    quarantined INTEGER NOT NULL DEFAULT 0 CHECK (quarantined IN (0, 1)),
    holder_kind TEXT,  -- of the open document that names it
    holder_id INTEGER,
    UNIQUE (article_id, serial),
    CONSTRAINT held_or_quarantined CHECK (holder_id IS NULL OR NOT quarantined),
    CONSTRAINT holder_has_its_kind CHECK ((holder_kind IS NULL) = (holder_id IS NULL))
) STRICT;
INSERT INTO serials_held_by_documents
    SELECT id, article_id, serial, stock_id, lot_number, quarantined,
        iif(sales_order_id IS NULL, NULL, 'sales_order'), sales_order_id
    FROM stock_serials ORDER BY id;
DROP TABLE stock_serials;
ALTER TABLE serials_held_by_documents RENAME TO stock_serials;
CREATE INDEX stock_serials_by_lot ON stock_serials (stock_id, lot_number, id);
CREATE INDEX stock_serials_by_holder ON stock_serials (holder_kind, holder_id) WHERE holder_id IS NOT NULL;
