-- What the user said is not so of what a model said of a session: the id of the statement, and hashes of its words, by which it is known in
-- other words. Its text is not kept.
CREATE TABLE wrong (
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  id TEXT NOT NULL,
  words BLOB NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (session, id)
) WITHOUT ROWID;
