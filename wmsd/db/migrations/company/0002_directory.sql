-- Clients, partners and warehouses.

CREATE TABLE clients (
    id INTEGER PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    tax_id TEXT,
    email TEXT,
    phone TEXT,
    address TEXT,
    active INTEGER NOT NULL CHECK (active IN (0, 1)),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE partners (
    id INTEGER PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('CLIENT', 'FURNIZOR', 'TRANSPORTATOR')),
    tax_id TEXT,
    email TEXT,
    phone TEXT,
    address TEXT,
    active INTEGER NOT NULL CHECK (active IN (0, 1)),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE warehouses (
    id INTEGER PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    address TEXT,
    active INTEGER NOT NULL CHECK (active IN (0, 1)),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE TRIGGER clients_counted AFTER INSERT ON clients BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'clients';
END;
CREATE TRIGGER partners_counted AFTER INSERT ON partners BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'partners';
END;
CREATE TRIGGER warehouses_counted AFTER INSERT ON warehouses BEGIN
    UPDATE row_counts SET rows = rows + 1 WHERE name = 'warehouses';
END;
