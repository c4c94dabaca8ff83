-- Errors that commands of a session printed, by what they are known again, with the next run of the same check that passed, if one was seen:
-- `changed` and `ran` tell what was done in between. They belong to the account of a digest and go with it.
CREATE TABLE failure (
  digest INTEGER NOT NULL REFERENCES digest(pk) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  signature TEXT NOT NULL,
  line TEXT NOT NULL,
  command TEXT NOT NULL,
  at INTEGER,
  turn INTEGER NOT NULL,
  passed TEXT,
  passed_at INTEGER,
  passed_turn INTEGER,
  changed TEXT,
  ran TEXT,
  PRIMARY KEY (digest, place)
) WITHOUT ROWID;
CREATE INDEX failure_signature ON failure(signature);
CREATE TRIGGER account_gone AFTER UPDATE OF account ON digest WHEN new.account IS NULL
BEGIN DELETE FROM failure WHERE digest = new.pk; END;
