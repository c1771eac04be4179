-- How far each company's file has come, as far as it is known here. A file that is found to be less far is an older
-- copy: its numbers go on after these, so that none is given twice.

CREATE TABLE high_water_marks (
    company_id INTEGER PRIMARY KEY REFERENCES companies (id),
    last_change INTEGER NOT NULL,
    last_event INTEGER NOT NULL
) STRICT;
