-- Transports: the orders of a warehouse that leave together, as a site's transport planner says.
-- Decimals are integers of millionths.

CREATE TABLE transports (
    id INTEGER PRIMARY KEY,
    transport_ecc TEXT NOT NULL,
    warehouse_id INTEGER NOT NULL REFERENCES warehouses (id),
    status TEXT NOT NULL CHECK (status IN ('CREAT', 'INCARCAT', 'LIVRAT')),
    vehicle TEXT,
    driver TEXT,
    loaded_at TEXT,     -- when it was, as the planner says
    delivered_at TEXT,
    change_seq INTEGER NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (warehouse_id, transport_ecc),
    CHECK ((status = 'CREAT') = (loaded_at IS NULL)),
    CHECK ((status = 'LIVRAT') = (delivered_at IS NOT NULL))
) STRICT;

CREATE TABLE transport_orders (
    transport_id INTEGER NOT NULL REFERENCES transports (id),
    sales_order_id INTEGER NOT NULL REFERENCES sales_orders (id),
    position INTEGER NOT NULL,
    PRIMARY KEY (transport_id, sales_order_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX transport_orders_by_order ON transport_orders (sales_order_id);

-- What goes OUT with it, and what came back IN. The partner is known when it is posted.
CREATE TABLE transport_packaging (
    id INTEGER PRIMARY KEY,
    transport_id INTEGER NOT NULL REFERENCES transports (id),
    direction TEXT NOT NULL CHECK (direction IN ('IN', 'OUT')),
    packaging_type_id INTEGER NOT NULL REFERENCES packaging_types (id),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    sales_order_id INTEGER REFERENCES sales_orders (id),  -- NULL: of the whole transport
    partner_id INTEGER REFERENCES partners (id),
    CHECK (direction = 'OUT' OR partner_id IS NOT NULL)
) STRICT;
CREATE INDEX transport_packaging_by_transport ON transport_packaging (transport_id);
