-- What git said of a file, branch or reference that a digest's session or a note names, as of `seen_at`: no part of any page. Each goes with
-- its digest or note. `fate` is JSON.
CREATE TABLE observation (
  digest INTEGER REFERENCES digest(pk) ON DELETE CASCADE,
  note INTEGER REFERENCES note(pk) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  fate TEXT NOT NULL,
  seen_at INTEGER NOT NULL
);
CREATE INDEX observation_digest ON observation(digest) WHERE digest IS NOT NULL;
CREATE INDEX observation_note ON observation(note) WHERE note IS NOT NULL;
