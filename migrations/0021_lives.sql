-- The id of the first item of its project that says the same, which an open item has over sessions. NULL until the next digest finds it.
ALTER TABLE open_item ADD COLUMN life TEXT;
CREATE INDEX open_item_life ON open_item(life);
CREATE INDEX open_item_lifeless ON open_item(session) WHERE life IS NULL;
-- Ids that a session's digest closes, whether the index knows the item yet or not.
CREATE TABLE closing (
  id TEXT NOT NULL,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  PRIMARY KEY (id, session)
) WITHOUT ROWID;
CREATE INDEX closing_session ON closing(session);
