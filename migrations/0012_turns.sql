-- Prompts of a file, private ones among them, by the first bytes of their keys: which prompts the user took back. `parent`: the record that
-- it follows; `follows`: the prompt of that record's turn, where the records say; `offset`: as in a bundle, moved by the same.
CREATE TABLE asked (
  session TEXT NOT NULL,
  file TEXT NOT NULL,
  key INTEGER NOT NULL,
  parent INTEGER,
  follows INTEGER,
  offset INTEGER NOT NULL,
  at INTEGER,
  PRIMARY KEY (session, file, key)
) WITHOUT ROWID;
-- What sessions remember of private words: hashes of four bytes, never text.
CREATE TABLE private_word (session TEXT NOT NULL, word INTEGER NOT NULL, PRIMARY KEY (session, word)) WITHOUT ROWID;
-- All transcripts are read again: none of this was recorded before. What could not be read is counted again.
UPDATE file SET size = -1, offset = 0;
DELETE FROM unknown_row;
