-- Who wrote a note and who settled something: an `Author` as JSON, NULL where it was not recorded. Notes of kind `todo` can be settled,
-- at `closed_at`.
ALTER TABLE note ADD COLUMN author TEXT;
ALTER TABLE note ADD COLUMN closed_at INTEGER;
ALTER TABLE note ADD COLUMN closed_by TEXT;
ALTER TABLE user_closed ADD COLUMN author TEXT;
