-- Companies that were deleted, or are being deleted. From the first moment on nobody is served such a company; what
-- was broken off is finished by deleting it again.

CREATE TABLE company_deletions (
    company_id INTEGER PRIMARY KEY, -- no reference: the company goes, and this stays
    code TEXT NOT NULL,
    begun_at TEXT NOT NULL,
    ended_at TEXT,                  -- NULL: under way, or broken off
    archive TEXT
) STRICT;

CREATE TRIGGER access_version_company_deletions_inserted AFTER INSERT ON company_deletions BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_company_deletions_deleted AFTER DELETE ON company_deletions BEGIN
    UPDATE access_version SET version = version + 1;
END;
