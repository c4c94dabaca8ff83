-- What every session's start asks is read from narrow indexes, not from the rows of all sessions of a project and of what they overtake:
-- `store::recent`, `store::rules` and `store::overtaken` ask so. What a digest overtakes goes with the digest without a look at all the rest.
DROP INDEX session_dirty;
CREATE INDEX session_dirty ON session(project, last_at) WHERE dirty;
CREATE INDEX overtaken_digest ON overtaken(digest) WHERE digest IS NOT NULL;
CREATE INDEX overtaken_later_digest ON overtaken(later_digest) WHERE later_digest IS NOT NULL;
CREATE INDEX overtaken_later_note ON overtaken(later_note) WHERE later_note IS NOT NULL;
-- `session_end` holds these, too.
DROP INDEX session_ending;
