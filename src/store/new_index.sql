-- What the files in `migrations/` make together. `RECALL_WRITE_DOCS=1 cargo test --lib new_index` draws it anew.

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

CREATE TABLE project (pk INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);

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
, client TEXT NOT NULL DEFAULT 'claude-code');

CREATE INDEX session_project ON session(project, started_at);

CREATE INDEX session_recent ON session(project, last_at);

CREATE INDEX session_page_dirty ON session(page_dirty) WHERE page_dirty;

CREATE INDEX session_unindexed ON session(unindexed) WHERE unindexed;

CREATE TABLE start (
  session TEXT NOT NULL,
  file TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (session, file)
) WITHOUT ROWID;

CREATE TABLE source (
  pk INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  file TEXT NOT NULL,
  agent TEXT NOT NULL,
  first_at INTEGER,
  last_at INTEGER,
  cwd TEXT,
  branches TEXT NOT NULL DEFAULT '[]',
  versions TEXT NOT NULL DEFAULT '[]', evident INTEGER NOT NULL DEFAULT 0, placed INTEGER NOT NULL DEFAULT 0, since INTEGER NOT NULL DEFAULT 0,
  UNIQUE (session, file, agent)
);

CREATE INDEX source_file ON source(file);

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

CREATE TABLE bundle_hash (
  bundle INTEGER PRIMARY KEY REFERENCES bundle(pk) ON DELETE CASCADE,
  session INTEGER NOT NULL,
  hashes BLOB NOT NULL
);

CREATE TABLE kin (session INTEGER NOT NULL, other INTEGER NOT NULL, PRIMARY KEY (session, other)) WITHOUT ROWID;

CREATE TRIGGER session_gone AFTER DELETE ON session BEGIN
  DELETE FROM kin WHERE other = old.pk AND session IN (SELECT other FROM kin WHERE session = old.pk);
  DELETE FROM kin WHERE session = old.pk;
END;

CREATE TABLE leaf_title (leaf BLOB NOT NULL, text TEXT NOT NULL, PRIMARY KEY (leaf, text)) WITHOUT ROWID;

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
, account BLOB, account_rules INTEGER);

CREATE UNIQUE INDEX digest_current ON digest(session) WHERE superseded = 0;

CREATE INDEX digest_session ON digest(session);

CREATE INDEX digest_queued ON digest(session) WHERE queued AND superseded = 0;

CREATE TABLE former_digest (
  id TEXT PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE INDEX former_digest_session ON former_digest(session);

CREATE TABLE likeness (
  session INTEGER PRIMARY KEY REFERENCES session(pk) ON DELETE CASCADE,
  words BLOB NOT NULL,
  repeated_by INTEGER
);

CREATE INDEX likeness_repeated_by ON likeness(repeated_by) WHERE repeated_by IS NOT NULL;

CREATE TABLE open_item (
  id TEXT PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  at INTEGER,
  verified INTEGER NOT NULL,
  place INTEGER NOT NULL
, life TEXT) WITHOUT ROWID;

CREATE INDEX open_item_session ON open_item(session);

CREATE TABLE closed_item (
  id TEXT NOT NULL,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  of INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  text TEXT NOT NULL,
  PRIMARY KEY (id, session)
) WITHOUT ROWID;

CREATE INDEX closed_item_of ON closed_item(of);

CREATE INDEX closed_item_session ON closed_item(session);

CREATE TABLE user_closed (
  id TEXT PRIMARY KEY,
  of INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  text TEXT NOT NULL,
  at INTEGER NOT NULL
, author TEXT) WITHOUT ROWID;

CREATE INDEX user_closed_of ON user_closed(of);

CREATE TABLE note (
  pk INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  project INTEGER NOT NULL REFERENCES project(pk),
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  at INTEGER NOT NULL,
  session TEXT
, author TEXT, closed_at INTEGER, closed_by TEXT);

CREATE INDEX note_project ON note(project, at);

CREATE TABLE page (path TEXT PRIMARY KEY, session INTEGER, day TEXT NOT NULL, facts TEXT) WITHOUT ROWID;

CREATE INDEX page_day ON page(day);

CREATE INDEX page_session ON page(session);

CREATE TABLE doc (
  pk INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER UNIQUE REFERENCES session(pk) ON DELETE CASCADE,
  note INTEGER UNIQUE REFERENCES note(pk) ON DELETE CASCADE,
  project INTEGER NOT NULL,
  began_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL
, memory_file INTEGER REFERENCES memory_file(pk) ON DELETE CASCADE);

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

CREATE TABLE vector_space (
  pk INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  dims INTEGER NOT NULL,
  checksum TEXT NOT NULL,
  probe BLOB NOT NULL,
  pieces INTEGER NOT NULL,
  complete INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE vector_chunk (
  pk INTEGER PRIMARY KEY,
  space INTEGER NOT NULL REFERENCES vector_space(pk) ON DELETE CASCADE,
  vectors INTEGER NOT NULL,
  docs BLOB NOT NULL,
  scales BLOB NOT NULL,
  body BLOB NOT NULL
);

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

CREATE TABLE excluded_session (id TEXT PRIMARY KEY, cut_at INTEGER NOT NULL DEFAULT 0, kept INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

CREATE TABLE forgotten_row (key BLOB PRIMARY KEY, private INTEGER NOT NULL DEFAULT 0, everywhere INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

CREATE TABLE forgotten_session (id TEXT PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE private_turn (
  session TEXT NOT NULL,
  from_at INTEGER NOT NULL,
  until_at INTEGER,
  prompt TEXT,
  PRIMARY KEY (session, from_at)
) WITHOUT ROWID;

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
, declined INTEGER NOT NULL DEFAULT 0);

CREATE TABLE run (pk INTEGER PRIMARY KEY, at INTEGER NOT NULL, report TEXT NOT NULL);

CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE answered (asked TEXT PRIMARY KEY, model TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE client_cost (
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  model TEXT NOT NULL,
  usd REAL NOT NULL,
  PRIMARY KEY (session, model)
) WITHOUT ROWID;

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

CREATE TABLE private_word (session TEXT NOT NULL, word INTEGER NOT NULL, PRIMARY KEY (session, word)) WITHOUT ROWID;

CREATE INDEX asked_parent ON asked(file, parent, session);

CREATE INDEX private_turn_open ON private_turn(session, from_at) WHERE until_at IS NULL;

CREATE INDEX start_first ON start(session, at);

CREATE INDEX source_place ON source(session, agent <> '', first_at, file) WHERE cwd IS NOT NULL;

CREATE INDEX digest_account ON digest(account_rules, session) WHERE superseded = 0;

CREATE TABLE session_folder (folder TEXT NOT NULL, session TEXT NOT NULL, since INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (folder, session)) WITHOUT ROWID;

CREATE TABLE wrong (
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  id TEXT NOT NULL,
  words BLOB NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (session, id)
) WITHOUT ROWID;

CREATE INDEX open_item_life ON open_item(life);

CREATE INDEX open_item_lifeless ON open_item(session) WHERE life IS NULL;

CREATE TABLE closing (
  id TEXT NOT NULL,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  PRIMARY KEY (id, session)
) WITHOUT ROWID;

CREATE INDEX closing_session ON closing(session);

CREATE TABLE overtaken (
  id TEXT PRIMARY KEY,
  digest INTEGER REFERENCES digest(pk) ON DELETE CASCADE,
  note INTEGER REFERENCES note(pk) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  said_by TEXT,
  text TEXT NOT NULL,
  later_digest INTEGER REFERENCES digest(pk) ON DELETE CASCADE,
  later_note INTEGER REFERENCES note(pk) ON DELETE CASCADE,
  later_at INTEGER NOT NULL,
  later_said_by TEXT,
  later_text TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE observation (
  digest INTEGER REFERENCES digest(pk) ON DELETE CASCADE,
  note INTEGER REFERENCES note(pk) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  fate TEXT NOT NULL,
  seen_at INTEGER NOT NULL
);

CREATE INDEX observation_digest ON observation(digest) WHERE digest IS NOT NULL;

CREATE INDEX observation_note ON observation(note) WHERE note IS NOT NULL;

CREATE TABLE rule_mention (
  digest INTEGER NOT NULL REFERENCES digest(pk) ON DELETE CASCADE,
  text TEXT NOT NULL,
  at INTEGER NOT NULL,
  turn INTEGER NOT NULL, wording TEXT,
  PRIMARY KEY (digest, text)
) WITHOUT ROWID;

CREATE TRIGGER rule_mention_gone AFTER UPDATE OF account ON digest WHEN new.account IS NULL
BEGIN
  DELETE FROM rule_mention WHERE digest = new.pk;
END;

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
  ran TEXT, aside INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (digest, place)
) WITHOUT ROWID;

CREATE INDEX failure_signature ON failure(signature);

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

CREATE UNIQUE INDEX memory_file_seen ON memory_file(path, size, stamp);

CREATE INDEX memory_file_project ON memory_file(project);

CREATE UNIQUE INDEX doc_memory_file ON doc(memory_file) WHERE memory_file IS NOT NULL;

CREATE TABLE origin (
  session INTEGER PRIMARY KEY REFERENCES session(pk) ON DELETE CASCADE,
  machine TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  told BLOB NOT NULL
);

CREATE INDEX origin_machine ON origin(machine);

CREATE TRIGGER origin_digested AFTER UPDATE OF dirty ON session
WHEN new.dirty AND EXISTS (SELECT 1 FROM origin WHERE session = new.pk)
BEGIN
  UPDATE session SET dirty = 0 WHERE pk = new.pk;
END;

CREATE TABLE later_day (
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  day TEXT NOT NULL,
  PRIMARY KEY (session, day)
) WITHOUT ROWID;

CREATE INDEX later_day_day ON later_day(day);

CREATE INDEX session_end ON session(substr(id, -8))
WHERE (substr(id, 15, 1) = '7' OR substr(id, 1, 4) = 'ses_' OR substr(id, 14, 1) = '_' OR length(id) = 13 AND id NOT GLOB '*[^0-9]*');

CREATE INDEX session_dirty ON session(project, last_at) WHERE dirty;

CREATE INDEX overtaken_digest ON overtaken(digest) WHERE digest IS NOT NULL;

CREATE INDEX overtaken_later_digest ON overtaken(later_digest) WHERE later_digest IS NOT NULL;

CREATE INDEX overtaken_later_note ON overtaken(later_note) WHERE later_note IS NOT NULL;

CREATE INDEX session_folder_session ON session_folder(session);
