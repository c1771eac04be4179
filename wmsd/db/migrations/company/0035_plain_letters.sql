-- The search of articles finds letters of which Unicode has no plain one and an accent by their plain letters, as the
-- search index does: `lodz` finds `Łódź`. So the index of articles gets them plain; accents do not count in it anyway.

CREATE VIEW article_search_texts AS SELECT
    id,
    CASE WHEN code GLOB '*[^ -~]*' THEN
        replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
        replace(replace(replace(replace(replace(replace(replace(replace(replace(code
        , 'ł', 'l'), 'Ł', 'l'), 'ø', 'o'), 'Ø', 'o'), 'đ', 'd'), 'Đ', 'd')
        , 'ð', 'd'), 'Ð', 'd'), 'þ', 'th'), 'Þ', 'th'), 'æ', 'ae'), 'Æ', 'ae')
        , 'œ', 'oe'), 'Œ', 'oe'), 'ı', 'i'), 'ħ', 'h'), 'Ħ', 'h'), 'ß', 'ss')
        , 'ẞ', 'ss')
    ELSE code END AS code,
    CASE WHEN name GLOB '*[^ -~]*' THEN
        replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
        replace(replace(replace(replace(replace(replace(replace(replace(replace(name
        , 'ł', 'l'), 'Ł', 'l'), 'ø', 'o'), 'Ø', 'o'), 'đ', 'd'), 'Đ', 'd')
        , 'ð', 'd'), 'Ð', 'd'), 'þ', 'th'), 'Þ', 'th'), 'æ', 'ae'), 'Æ', 'ae')
        , 'œ', 'oe'), 'Œ', 'oe'), 'ı', 'i'), 'ħ', 'h'), 'Ħ', 'h'), 'ß', 'ss')
        , 'ẞ', 'ss')
    ELSE name END AS name,
    CASE WHEN (coalesce(barcode, '') || ' ' || barcodes) GLOB '*[^ -~]*' THEN
        replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
        replace(replace(replace(replace(replace(replace(replace(replace(replace(coalesce(barcode, '') || ' ' || barcodes
        , 'ł', 'l'), 'Ł', 'l'), 'ø', 'o'), 'Ø', 'o'), 'đ', 'd'), 'Đ', 'd')
        , 'ð', 'd'), 'Ð', 'd'), 'þ', 'th'), 'Þ', 'th'), 'æ', 'ae'), 'Æ', 'ae')
        , 'œ', 'oe'), 'Œ', 'oe'), 'ı', 'i'), 'ħ', 'h'), 'Ħ', 'h'), 'ß', 'ss')
        , 'ẞ', 'ss')
    ELSE coalesce(barcode, '') || ' ' || barcodes END AS barcodes
FROM articles;

DROP TRIGGER articles_searchable;
CREATE TRIGGER articles_searchable AFTER INSERT ON articles BEGIN
    INSERT INTO article_search (rowid, code, name, barcodes)
    SELECT id, code, name, barcodes FROM article_search_texts WHERE id = new.id;
END;
DROP TRIGGER articles_searchable_again;
CREATE TRIGGER articles_searchable_again AFTER UPDATE OF code, name, barcode, barcodes ON articles BEGIN
    DELETE FROM article_search WHERE rowid = old.id;
    INSERT INTO article_search (rowid, code, name, barcodes)
    SELECT id, code, name, barcodes FROM article_search_texts WHERE id = new.id;
END;

DELETE FROM article_search WHERE rowid IN (
    SELECT id FROM articles WHERE code || name || coalesce(barcode, '') || barcodes GLOB '*[łŁøØđĐðÐþÞæÆœŒıħĦßẞ]*'
);
INSERT INTO article_search (rowid, code, name, barcodes)
SELECT id, code, name, barcodes FROM article_search_texts
WHERE id IN (
    SELECT id FROM articles WHERE code || name || coalesce(barcode, '') || barcodes GLOB '*[łŁøØđĐðÐþÞæÆœŒıħĦßẞ]*'
);
