-- What sessions were told by hooks of this program, each name once, and whether it was used afterwards: sessions (whole ids) and statements
-- (ids of notes, rules, open items) that were looked up, files that were read or changed, checks that were run. `used` is 0 for what was told
-- alone, 1 for what was told and used, 2 for what was looked up without having been told. They belong to the account of a digest and go with it.
CREATE TABLE receipt (
  digest INTEGER NOT NULL REFERENCES digest(pk) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (digest, kind, name)
) WITHOUT ROWID;
CREATE INDEX receipt_used ON receipt(name) WHERE used;
CREATE TRIGGER receipt_gone AFTER UPDATE OF account ON digest WHEN new.account IS NULL
BEGIN DELETE FROM receipt WHERE digest = new.pk; END;
