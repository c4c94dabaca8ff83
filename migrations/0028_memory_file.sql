-- The memory files that Claude Code keeps of its own for a project, as a digest found them last. `folder`: that of the project's transcripts, in
-- which `memory/` lies; `size` and `stamp` tell whether a file changed since; `at`: when it was written last. `text` is empty where nothing
-- of a file may be kept.
CREATE TABLE memory_file (
  pk INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  folder TEXT NOT NULL,
  project INTEGER NOT NULL REFERENCES project(pk),
  size INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  at INTEGER NOT NULL,
  text TEXT NOT NULL
);
-- All that a run with nothing new asks for: it reads no text.
CREATE UNIQUE INDEX memory_file_seen ON memory_file(path, size, stamp);
CREATE INDEX memory_file_project ON memory_file(project);
ALTER TABLE doc ADD COLUMN memory_file INTEGER REFERENCES memory_file(pk) ON DELETE CASCADE;
CREATE UNIQUE INDEX doc_memory_file ON doc(memory_file) WHERE memory_file IS NOT NULL;
