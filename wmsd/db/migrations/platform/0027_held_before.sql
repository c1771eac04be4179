-- What companies held before each had a share of the disk (app/disk_shares.py), so that no upgrade refuses one alone.

ALTER TABLE companies ADD COLUMN held_before INTEGER DEFAULT 0; -- bytes; NULL: the server notes it when it starts

UPDATE companies SET held_before = NULL;
