-- Each page of a company names the first of the others.

CREATE INDEX companies_by_name ON companies (name COLLATE NOCASE, id);
