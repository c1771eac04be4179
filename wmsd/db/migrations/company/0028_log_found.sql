-- Which file a log has found beside it when it began, by inode and moments in nanoseconds, and the log's own inode:
-- so that a file that somebody has put there since is not taken for it (db/exchanged.py).

ALTER TABLE log ADD COLUMN found_file INTEGER;
ALTER TABLE log ADD COLUMN found_modified INTEGER;
ALTER TABLE log ADD COLUMN found_changed INTEGER;
ALTER TABLE log ADD COLUMN found_log INTEGER;
