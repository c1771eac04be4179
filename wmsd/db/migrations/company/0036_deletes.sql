-- Deleting a record finds its search entry by the index of `search_entries`. SQLite compares `key` with a column of
-- integers as a number, and an index of `key` cannot do that: each delete read all entries of the kind. `+old.id` is
-- compared as it is.

DROP TRIGGER sales_orders_not_found;
CREATE TRIGGER sales_orders_not_found AFTER DELETE ON sales_orders BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'sales-orders' AND key = +old.id);
    DELETE FROM search_entries WHERE kind = 'sales-orders' AND key = +old.id;
END;

DROP TRIGGER purchase_orders_not_found;
CREATE TRIGGER purchase_orders_not_found AFTER DELETE ON purchase_orders BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'purchase-orders' AND key = +old.id);
    DELETE FROM search_entries WHERE kind = 'purchase-orders' AND key = +old.id;
END;

DROP TRIGGER receptions_not_found;
CREATE TRIGGER receptions_not_found AFTER DELETE ON receptions BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'receptions' AND key = +old.id);
    DELETE FROM search_entries WHERE kind = 'receptions' AND key = +old.id;
END;

DROP TRIGGER returns_not_found;
CREATE TRIGGER returns_not_found AFTER DELETE ON returns BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'returns' AND key = +old.id);
    DELETE FROM search_entries WHERE kind = 'returns' AND key = +old.id;
END;

DROP TRIGGER articles_not_found;
CREATE TRIGGER articles_not_found AFTER DELETE ON articles BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'articles' AND key = +old.id);
    DELETE FROM search_entries WHERE kind = 'articles' AND key = +old.id;
END;

DROP TRIGGER partners_not_found;
CREATE TRIGGER partners_not_found AFTER DELETE ON partners BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'partners' AND key = +old.id);
    DELETE FROM search_entries WHERE kind = 'partners' AND key = +old.id;
END;

DROP TRIGGER clients_not_found;
CREATE TRIGGER clients_not_found AFTER DELETE ON clients BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'clients' AND key = +old.id);
    DELETE FROM search_entries WHERE kind = 'clients' AND key = +old.id;
END;

DROP TRIGGER warehouses_not_found;
CREATE TRIGGER warehouses_not_found AFTER DELETE ON warehouses BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'warehouses' AND key = +old.id);
    DELETE FROM search_entries WHERE kind = 'warehouses' AND key = +old.id;
END;

DROP TRIGGER packaging_types_not_found;
CREATE TRIGGER packaging_types_not_found AFTER DELETE ON packaging_types BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'packaging-types' AND key = +old.id);
    DELETE FROM search_entries WHERE kind = 'packaging-types' AND key = +old.id;
END;

DROP TRIGGER counts_not_found;
CREATE TRIGGER counts_not_found AFTER DELETE ON counts BEGIN
    DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_entries WHERE kind = 'counts' AND key = +old.id);
    DELETE FROM search_entries WHERE kind = 'counts' AND key = +old.id;
END;

-- Deleting an article looks for lines that refer to it: those of returns had no index for it.
CREATE INDEX return_lines_by_article ON return_lines (article_id, return_id);
