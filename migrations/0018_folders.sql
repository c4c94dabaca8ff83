-- Folders in which a session went on, besides those that `source.cwd` names, the first of each source: one that is excluded or isolated
-- decides about the whole session. Of an excluded session all of them, as nothing else is stored of it.
CREATE TABLE session_folder (folder TEXT NOT NULL, session TEXT NOT NULL, PRIMARY KEY (folder, session)) WITHOUT ROWID;
-- `placed`: the source was read with its folders. Transcripts that are still there are read again once for that.
ALTER TABLE source ADD COLUMN placed INTEGER NOT NULL DEFAULT 0;
UPDATE file SET size = -1, offset = 0;
DELETE FROM unknown_row;
