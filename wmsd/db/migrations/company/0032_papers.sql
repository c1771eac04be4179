-- What stands on the papers of the company: its address, its logo, and the size of its labels. There is one row.

CREATE TABLE papers (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT,
    address TEXT,
    tax_id TEXT,
    phone TEXT,
    label_size TEXT,
    logo_type TEXT CHECK (logo_type IN ('image/png', 'image/jpeg')),
    logo_sha256 TEXT,
    logo_width INTEGER CHECK (logo_width BETWEEN 1 AND 2000),
    logo_height INTEGER CHECK (logo_height BETWEEN 1 AND 2000),
    logo BLOB CHECK (length(logo) BETWEEN 1 AND 200000),
    CHECK ((logo_type IS NULL) = (logo IS NULL)),
    CHECK ((logo_sha256 IS NULL) = (logo IS NULL)),
    CHECK ((logo_width IS NULL) = (logo IS NULL)),
    CHECK ((logo_height IS NULL) = (logo IS NULL))
) STRICT;

INSERT INTO papers (id) VALUES (1);
