-- The days after that of its page on which somebody said something in a session: their pages show it as well.
CREATE TABLE later_day (
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  day TEXT NOT NULL,
  PRIMARY KEY (session, day)
) WITHOUT ROWID;
CREATE INDEX later_day_day ON later_day(day);
UPDATE session SET page_dirty = 1 WHERE last_at > started_at AND pk IN (SELECT session FROM digest WHERE superseded = 0);
