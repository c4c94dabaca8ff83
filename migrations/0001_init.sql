-- The schema of format 8, the oldest that an index can have. Times are milliseconds since 1970 unless their column says otherwise; columns
-- that hold JSON say so, and `digest.body`, `bundle.used`, `bundle.said` and `bundle.done` hold it compressed.

-- ## Transcripts

-- A transcript file and how much of it is stored. `size` and `mtime_ns` are those seen last: a file that still has them is not read.
-- `state` is what the records so far mean for the next ones, as JSON; empty where they mean nothing.
CREATE TABLE file (
  pk INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  head_len INTEGER NOT NULL,
  head_hash BLOB NOT NULL,
  offset INTEGER NOT NULL,
  tail_hash BLOB NOT NULL,
  state TEXT NOT NULL DEFAULT ''
);

-- Lines that could not be read, and types of records that this program does not know.
CREATE TABLE bad_line (
  file INTEGER NOT NULL REFERENCES file(pk) ON DELETE CASCADE,
  offset INTEGER NOT NULL,
  why TEXT NOT NULL,
  PRIMARY KEY (file, offset)
) WITHOUT ROWID;
CREATE TABLE unknown_row (
  file INTEGER NOT NULL REFERENCES file(pk) ON DELETE CASCADE,
  type TEXT NOT NULL,
  rows INTEGER NOT NULL,
  PRIMARY KEY (file, type)
) WITHOUT ROWID;

-- ## Sessions

CREATE TABLE project (pk INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);

-- `started_at`, the earliest of its `start`, decides which session owns a record that several hold. `last_at`: the latest of its sources.
-- `dirty`: stored records are newer than the digest; 2 where only sessions before it changed, which may change its digest.
-- `page_dirty`: the digest is newer than the pages. `unindexed`: what is stored is newer than its search document.
-- `compacted_at`: when the client was about to compact it, until a digest covers that.
CREATE TABLE session (
  pk INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  project INTEGER NOT NULL REFERENCES project(pk),
  started_at INTEGER,
  grew_at INTEGER NOT NULL,
  ended_at INTEGER,
  end_reason TEXT,
  dirty INTEGER NOT NULL DEFAULT 1,
  page_dirty INTEGER NOT NULL DEFAULT 0,
  skip TEXT,
  last_at INTEGER,
  compacted_at INTEGER,
  unindexed INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX session_project ON session(project, started_at);
CREATE INDEX session_recent ON session(project, last_at);
CREATE INDEX session_dirty ON session(dirty) WHERE dirty;
CREATE INDEX session_page_dirty ON session(page_dirty) WHERE page_dirty;
CREATE INDEX session_unindexed ON session(unindexed) WHERE unindexed;

-- When each file first mentions a session, in the order of its records.
CREATE TABLE start (
  session TEXT NOT NULL,
  file TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (session, file)
) WITHOUT ROWID;

-- The part of a session that lies in one file: its own, or a subagent's.
CREATE TABLE source (
  pk INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  file TEXT NOT NULL,
  agent TEXT NOT NULL,
  first_at INTEGER,
  last_at INTEGER,
  cwd TEXT,
  branches TEXT NOT NULL DEFAULT '[]',
  versions TEXT NOT NULL DEFAULT '[]',
  UNIQUE (session, file, agent)
);
CREATE INDEX source_file ON source(file);

-- The records of a source, many in a row, in the order of the file. `moved` is added to the offsets of its records; `used`: tokens of
-- messages; `rows`: keys, offsets and times of items; `said`, `done`: their texts. `source` is NULL for the tokens of messages of which
-- nothing else is known.
CREATE TABLE bundle (
  pk INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  source INTEGER REFERENCES source(pk) ON DELETE CASCADE,
  moved INTEGER NOT NULL DEFAULT 0,
  items INTEGER NOT NULL,
  prompts INTEGER NOT NULL,
  used BLOB NOT NULL,
  rows BLOB NOT NULL,
  said BLOB NOT NULL,
  done BLOB NOT NULL
);
CREATE INDEX bundle_session ON bundle(session);
CREATE INDEX bundle_source ON bundle(source);
-- Four bytes of hash for each record and message of a bundle, to find copies of them in other sessions.
CREATE TABLE bundle_hash (
  bundle INTEGER PRIMARY KEY REFERENCES bundle(pk) ON DELETE CASCADE,
  session INTEGER NOT NULL,
  hashes BLOB NOT NULL
);
-- Sessions that share records or messages, in both directions.
CREATE TABLE kin (session INTEGER NOT NULL, other INTEGER NOT NULL, PRIMARY KEY (session, other)) WITHOUT ROWID;
CREATE TRIGGER session_gone AFTER DELETE ON session BEGIN
  DELETE FROM kin WHERE other = old.pk AND session IN (SELECT other FROM kin WHERE session = old.pk);
  DELETE FROM kin WHERE session = old.pk;
END;

-- Summaries by older clients name the last record of the conversation they are about, which may lie in any session.
CREATE TABLE leaf_title (leaf BLOB NOT NULL, text TEXT NOT NULL, PRIMARY KEY (leaf, text)) WITHOUT ROWID;

-- ## Digests

-- `queued`: made without the model, which is still wanted. `id` derives from what was digested, never from the run. `title` repeats the
-- body's. `interim_until`: the time of the last record it covers, for a digest made while the session went on. `basis`: what a digest
-- without the model was made of besides the session's records, as JSON.
CREATE TABLE digest (
  pk INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  summarizer TEXT NOT NULL,
  model TEXT,
  input_hash BLOB NOT NULL,
  made_at INTEGER NOT NULL,
  cost_usd REAL,
  queued INTEGER NOT NULL DEFAULT 0,
  superseded INTEGER NOT NULL DEFAULT 0,
  body BLOB NOT NULL,
  title TEXT,
  interim_until INTEGER,
  basis TEXT
);
CREATE UNIQUE INDEX digest_current ON digest(session) WHERE superseded = 0;
CREATE INDEX digest_session ON digest(session);
-- Every run asks which digests still want the model: mostly none, which this answers without reading them all.
CREATE INDEX digest_queued ON digest(session) WHERE queued AND superseded = 0;
-- Ids of digests that are not kept: people still have them.
CREATE TABLE former_digest (
  id TEXT PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX former_digest_session ON former_digest(session);
-- A digest as hashes of its words, and the next session of the project that says nearly the same.
CREATE TABLE likeness (
  session INTEGER PRIMARY KEY REFERENCES session(pk) ON DELETE CASCADE,
  words BLOB NOT NULL,
  repeated_by INTEGER
);
CREATE INDEX likeness_repeated_by ON likeness(repeated_by) WHERE repeated_by IS NOT NULL;

-- Next steps and blockers, until a later digest or the user settles them.
CREATE TABLE open_item (
  id TEXT PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  at INTEGER,
  verified INTEGER NOT NULL,
  place INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX open_item_session ON open_item(session);
-- What a later session (`session`) settled of an earlier one (`of`), in the words that were shown to it.
CREATE TABLE closed_item (
  id TEXT NOT NULL,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  of INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  text TEXT NOT NULL,
  PRIMARY KEY (id, session)
) WITHOUT ROWID;
CREATE INDEX closed_item_of ON closed_item(of);
CREATE INDEX closed_item_session ON closed_item(session);
-- What the user settled, with its words: a new digest may give an item another id.
CREATE TABLE user_closed (
  id TEXT PRIMARY KEY,
  of INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  text TEXT NOT NULL,
  at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX user_closed_of ON user_closed(of);

-- Remembered on request, apart from any session. `session`: where it was said, if that is known.
CREATE TABLE note (
  pk INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  project INTEGER NOT NULL REFERENCES project(pk),
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  at INTEGER NOT NULL,
  session TEXT
);
CREATE INDEX note_project ON note(project, at);

-- Pages on disk, by path below the data folder. `facts`: what the day's page says of the session besides its digest, as JSON.
CREATE TABLE page (path TEXT PRIMARY KEY, session INTEGER, day TEXT NOT NULL, facts TEXT) WITHOUT ROWID;
CREATE INDEX page_day ON page(day);
CREATE INDEX page_session ON page(session);

-- ## Search

-- What search finds: one document for each session and note. The texts lie in `digest`, `bundle` and `note`. A document that is made again
-- gets a new number, so that high numbers are the latest.
CREATE TABLE doc (
  pk INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER UNIQUE REFERENCES session(pk) ON DELETE CASCADE,
  note INTEGER UNIQUE REFERENCES note(pk) ON DELETE CASCADE,
  project INTEGER NOT NULL,
  began_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL
);
CREATE INDEX doc_project ON doc(project);
CREATE VIRTUAL TABLE search USING fts5(
  title, asked, decided, noted, said, files, did, extra, tools, branches,
  content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER doc_gone AFTER DELETE ON doc BEGIN
  DELETE FROM search WHERE rowid = old.pk;
  UPDATE session SET unindexed = 1 WHERE pk = old.session;
END;
CREATE TRIGGER session_moved AFTER UPDATE OF project ON session BEGIN UPDATE doc SET project = new.project WHERE session = new.pk; END;

-- Vectors of documents, where the config names an endpoint for embeddings. All of it can be made again.
-- Vectors are only compared within their space. `probe`: the vector of a fixed text, by which a model is recognised; `pieces`: how texts
-- were cut; `complete`: every document was embedded once, or refused.
CREATE TABLE vector_space (
  pk INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  dims INTEGER NOT NULL,
  checksum TEXT NOT NULL,
  probe BLOB NOT NULL,
  pieces INTEGER NOT NULL,
  complete INTEGER NOT NULL DEFAULT 0
);
-- Some hundred vectors a row: numbers of documents (8 bytes each), scales (4), vectors (a byte for each dimension).
CREATE TABLE vector_chunk (
  pk INTEGER PRIMARY KEY,
  space INTEGER NOT NULL REFERENCES vector_space(pk) ON DELETE CASCADE,
  vectors INTEGER NOT NULL,
  docs BLOB NOT NULL,
  scales BLOB NOT NULL,
  body BLOB NOT NULL
);
-- The chunk of a document's vectors; NULL where it has no text to embed. `text`: a hash of what was embedded. `gone`: the document was
-- deleted, and its vectors go before the file is written again.
CREATE TABLE embedded (
  doc INTEGER PRIMARY KEY,
  space INTEGER NOT NULL REFERENCES vector_space(pk) ON DELETE CASCADE,
  chunk INTEGER REFERENCES vector_chunk(pk) ON DELETE CASCADE,
  text BLOB NOT NULL,
  gone INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX embedded_chunk ON embedded(chunk);
CREATE INDEX embedded_gone ON embedded(text) WHERE gone;
CREATE TRIGGER doc_unembedded AFTER DELETE ON doc BEGIN UPDATE embedded SET gone = 1 WHERE doc = old.pk; END;

-- ## What stays out

-- Sessions of excluded projects: their records that name no working directory are left out with the others.
CREATE TABLE excluded_session (id TEXT PRIMARY KEY) WITHOUT ROWID;
-- Records that were forgotten or are private, by key, and forgotten sessions, by id. Never text. An import may bring them back.
CREATE TABLE forgotten_row (key BLOB PRIMARY KEY, private INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE forgotten_session (id TEXT PRIMARY KEY) WITHOUT ROWID;
-- From a prompt that was all private to the next one; `until_at` is NULL while there is none. What a subagent did meanwhile is private
-- too. `prompt`: the client's id of the prompt.
CREATE TABLE private_turn (
  session TEXT NOT NULL,
  from_at INTEGER NOT NULL,
  until_at INTEGER,
  prompt TEXT,
  PRIMARY KEY (session, from_at)
) WITHOUT ROWID;

-- ## Runs

-- Spend: the worst case is reserved before a call and replaced by the real cost after it.
CREATE TABLE spend (
  pk INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  session TEXT NOT NULL,
  model TEXT NOT NULL,
  reserved_usd REAL NOT NULL,
  actual_usd REAL
);
CREATE INDEX spend_at ON spend(at);
CREATE TABLE attempt (
  session INTEGER PRIMARY KEY REFERENCES session(pk) ON DELETE CASCADE,
  failures INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  error TEXT NOT NULL
);
CREATE TABLE run (pk INTEGER PRIMARY KEY, at INTEGER NOT NULL, report TEXT NOT NULL);
-- By what rules the stored texts were sanitized, whether the file is still to be written again, and the like.
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
