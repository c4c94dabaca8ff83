-- Sessions that came from another machine: which one, how it is called, which version of what it told, and that, as JSON, compressed. Their
-- records are not here.
CREATE TABLE origin (
  session INTEGER PRIMARY KEY REFERENCES session(pk) ON DELETE CASCADE,
  machine TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  told BLOB NOT NULL
);
CREATE INDEX origin_machine ON origin(machine);
-- There are no records here to make another digest from.
CREATE TRIGGER origin_digested AFTER UPDATE OF dirty ON session
WHEN new.dirty AND EXISTS (SELECT 1 FROM origin WHERE session = new.pk)
BEGIN
  UPDATE session SET dirty = 0 WHERE pk = new.pk;
END;
-- Of records that the user forgot, and not of those that grew too old: they are forgotten on every machine.
ALTER TABLE forgotten_row ADD COLUMN everywhere INTEGER NOT NULL DEFAULT 0;
