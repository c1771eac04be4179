-- The figures of each company for the page Today, as they were read last. They are bookkeeping: whatever is missing is
-- read again.

CREATE TABLE company_figures (
    company_id INTEGER PRIMARY KEY REFERENCES companies (id) ON DELETE CASCADE,
    figures TEXT NOT NULL, -- JSON
    read_at TEXT NOT NULL
) STRICT;
