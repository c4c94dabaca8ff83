-- Sentences that a later one of the same project overtakes, found anew where something of the project changed. Each end belongs to a digest,
-- and goes with it, or to a note. `said_by`: `user`, `assistant`, or `model` for a statement of its digest; of a note nothing. Few rows, so no index but
-- the id.
CREATE TABLE overtaken (
  id TEXT PRIMARY KEY,
  digest INTEGER REFERENCES digest(pk) ON DELETE CASCADE,
  note INTEGER REFERENCES note(pk) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  said_by TEXT,
  text TEXT NOT NULL,
  later_digest INTEGER REFERENCES digest(pk) ON DELETE CASCADE,
  later_note INTEGER REFERENCES note(pk) ON DELETE CASCADE,
  later_at INTEGER NOT NULL,
  later_said_by TEXT,
  later_text TEXT NOT NULL
) WITHOUT ROWID;
