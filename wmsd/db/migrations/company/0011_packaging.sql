-- Returnable packaging: the balances with partners, and the append-only ledger whose sums they are.
-- Decimals are integers of millionths.

CREATE TABLE packaging_types (
    id INTEGER PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE packaging_balances (
    id INTEGER PRIMARY KEY,
    packaging_type_id INTEGER NOT NULL REFERENCES packaging_types (id),
    partner_id INTEGER NOT NULL REFERENCES partners (id),
    quantity INTEGER NOT NULL  -- above 0 the partner owes us, below 0 we owe the partner
        CHECK (quantity BETWEEN -999999999999999 AND 999999999999999),
    change_seq INTEGER NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (packaging_type_id, partner_id)
) STRICT;

CREATE INDEX packaging_balances_by_partner ON packaging_balances (partner_id);

CREATE TABLE packaging_movements (
    id INTEGER PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    packaging_type_id INTEGER NOT NULL REFERENCES packaging_types (id),
    partner_id INTEGER NOT NULL REFERENCES partners (id),
    direction TEXT NOT NULL CHECK (direction IN ('IN', 'OUT')),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    document_type TEXT,
    document_id INTEGER,
    occurred_at TEXT NOT NULL,
    notes TEXT,
    actor TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    CONSTRAINT a_document_has_a_type_and_an_id CHECK ((document_type IS NULL) = (document_id IS NULL))
) STRICT;

-- An index ends with the id, so each of the first four gives the list in its own order under its filters; the
-- others find what occurred since a moment.
CREATE INDEX packaging_movements_by_type ON packaging_movements (packaging_type_id);
CREATE INDEX packaging_movements_by_partner ON packaging_movements (partner_id);
CREATE INDEX packaging_movements_by_partner_and_type ON packaging_movements (partner_id, packaging_type_id);
CREATE INDEX packaging_movements_by_document ON packaging_movements (document_type, document_id)
    WHERE document_id IS NOT NULL;
CREATE INDEX packaging_movements_by_occurrence ON packaging_movements (occurred_at);
CREATE INDEX packaging_movements_by_partner_and_occurrence ON packaging_movements (partner_id, occurred_at);

CREATE TRIGGER packaging_movements_are_never_changed BEFORE UPDATE ON packaging_movements BEGIN
    SELECT raise(ABORT, 'the packaging ledger is append-only');
END;
CREATE TRIGGER packaging_movements_are_never_deleted BEFORE DELETE ON packaging_movements BEGIN
    SELECT raise(ABORT, 'the packaging ledger is append-only');
END;

INSERT INTO row_counts (name, rows)
VALUES ('packaging_types', 0), ('packaging_balances', 0), ('packaging_movements', 0);
CREATE TRIGGER packaging_types_counted AFTER INSERT ON packaging_types BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'packaging_types';
END;
CREATE TRIGGER packaging_balances_counted AFTER INSERT ON packaging_balances BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'packaging_balances';
END;
CREATE TRIGGER packaging_movements_counted AFTER INSERT ON packaging_movements BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'packaging_movements';
END;
