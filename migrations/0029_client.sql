-- The client whose session it is, by its key in `model::client`.
ALTER TABLE session ADD COLUMN client TEXT NOT NULL DEFAULT 'claude-code';
-- What people see of ids that begin with the time.
CREATE INDEX session_ending ON session(substr(id, -8)) WHERE substr(id, 15, 1) = '7';
