-- Was the answer paid for, and none that the same request would bring another time?
ALTER TABLE attempt ADD COLUMN declined INTEGER NOT NULL DEFAULT 0;
-- Pages quote more of the replies of turns.
UPDATE session SET page_dirty = 1 WHERE pk IN (SELECT session FROM digest WHERE superseded = 0);
