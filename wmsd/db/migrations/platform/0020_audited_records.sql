-- Which record of a company an entry of the audit is about: the ids and the kind stay when codes change.

ALTER TABLE audit ADD COLUMN record TEXT; -- such as 1/article/17: the company's id, the kind and the id of the record

CREATE INDEX audit_by_record ON audit (record) WHERE record IS NOT NULL;
