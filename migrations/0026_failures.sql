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

-- Commands that a session ran: checks, and what runs, deploys or migrates something; each once, by what it is known again however it is written.
-- `line` is its newest form that passed, else its newest; `passed_last` how it ended last. They belong to the account of a digest and go with it.
CREATE TABLE command (
  digest INTEGER NOT NULL REFERENCES digest(pk) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  same TEXT NOT NULL,
  class TEXT NOT NULL,
  line TEXT NOT NULL,
  folder TEXT NOT NULL,
  ran INTEGER NOT NULL,
  passed INTEGER NOT NULL,
  passed_last INTEGER NOT NULL,
  at INTEGER,
  PRIMARY KEY (digest, place)
) WITHOUT ROWID;
CREATE TRIGGER account_gone AFTER UPDATE OF account ON digest WHEN new.account IS NULL
BEGIN DELETE FROM failure WHERE digest = new.pk; DELETE FROM command WHERE digest = new.pk; END;
