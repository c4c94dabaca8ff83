-- Which model answered to the name it was asked for by.
CREATE TABLE answered (asked TEXT PRIMARY KEY, model TEXT NOT NULL) WITHOUT ROWID;
-- What the client itself says a session cost, at list price in US dollars, where it knew all prices.
CREATE TABLE client_cost (
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  model TEXT NOT NULL,
  usd REAL NOT NULL,
  PRIMARY KEY (session, model)
) WITHOUT ROWID;
-- All transcripts are read again: records of kinds that were passed over hold usage, too.
UPDATE file SET size = -1, offset = 0;
