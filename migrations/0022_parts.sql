-- When a session was first in a folder: the earliest time of its records there. 0 where that is not known, as of what earlier programs stored.
ALTER TABLE session_folder ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
-- The same of a source's folder, `cwd`, over the whole session.
ALTER TABLE source ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
-- `cut_at`: when the session was first in an excluded folder, 0 where that is not known. `kept`: what is stored of it is what it said before,
-- and all of that.
ALTER TABLE excluded_session ADD COLUMN cut_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE excluded_session ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
