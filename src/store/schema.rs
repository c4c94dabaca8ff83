//! The database's form: an append-only list of migrations; its length is the `user_version`.
//!
//! A released migration is never edited. Row-shaped bodies are JSON of the types in `session.rs` and `digest.rs`, packed by `pack`.

use anyhow::Result;
use rusqlite::Connection;

use super::repack;

/// Each entry leads from version `n` to `n + 1`.
pub const MIGRATIONS: [Step; 12] = [
    Step::Sql(FIRST),
    Step::Sql(CLOSED_BY_USER),
    Step::Sql(PRIVACY),
    Step::Sql(FINDING),
    Step::Sql(MEANING),
    Step::Repack(BUNDLES),
    Step::Sql(QUEUED),
    Step::Sql(BASIS),
    Step::Sql(AUTHORS),
    Step::Sql(USAGE),
    Step::Sql(GLUED),
    Step::Sql(TURNS),
];

/// How the database gets its next form, within a transaction.
pub enum Step {
    Sql(&'static str),
    /// What rows say, and what was used for it, goes into bundles, between these statements, which make the new tables, and the end of
    /// the old ones.
    Repack(&'static str),
}

impl Step {
    pub fn take(&self, db: &Connection) -> Result<()> {
        match self {
            Step::Sql(sql) => db.execute_batch(sql)?,
            Step::Repack(sql) => {
                db.execute_batch(sql)?;
                repack::all(db)?;
                db.execute_batch("DROP TABLE item; DROP TABLE usage")?;
            }
        }
        Ok(())
    }
}

/// Who wrote a note and who closed something, each an `Author` as JSON: NULL is from before that was recorded. And notes of what is to be
/// done can be closed, which `closed_at` says.
const AUTHORS: &str = "ALTER TABLE note ADD COLUMN author TEXT; ALTER TABLE note ADD COLUMN closed_at INTEGER;
ALTER TABLE note ADD COLUMN closed_by TEXT; ALTER TABLE user_closed ADD COLUMN author TEXT;";

/// Which row each prompt follows, by which it is known what the user took back, and what is remembered of private words. Never text.
const TURNS: &str = "
-- Prompts of a file, private ones among them, by the first bytes of their keys. `parent`: the row that it follows; `follows`: the prompt
-- whose turn that is of, where the rows tell; `offset`: as those of a bundle's rows, with what they were moved by.
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
-- What sessions remember of private words: hashes of four bytes, see `privacy/echo`.
CREATE TABLE private_word (session TEXT NOT NULL, word INTEGER NOT NULL, PRIMARY KEY (session, word)) WITHOUT ROWID;
-- Transcripts are read once more: nobody noted that before. What could not be read is counted anew.
UPDATE file SET size = -1, offset = 0;
DELETE FROM unknown_row;
";

/// Rows and their usage in half the room.
const BUNDLES: &str = "
-- What rows of a source say, in the order of the file, many together: see `bundle/mod.rs`. `moved`: what is added to the offsets of its
-- rows; `used`: what messages took; `rows`: what each item is known by; `said`, `done`: the texts. `source` is NULL for what messages took
-- of which nothing else is known.
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
-- Four bytes for each row and message of a bundle: where copies of them may be.
CREATE TABLE bundle_hash (
  bundle INTEGER PRIMARY KEY REFERENCES bundle(pk) ON DELETE CASCADE,
  session INTEGER NOT NULL,
  hashes BLOB NOT NULL
);
-- Sessions that held some of the same rows or messages, both ways.
CREATE TABLE kin (session INTEGER NOT NULL, other INTEGER NOT NULL, PRIMARY KEY (session, other)) WITHOUT ROWID;
CREATE TRIGGER session_gone AFTER DELETE ON session BEGIN
  DELETE FROM kin WHERE other = old.pk AND session IN (SELECT other FROM kin WHERE session = old.pk);
  DELETE FROM kin WHERE session = old.pk;
END;
";

/// Every run asks which digests the model is still wanted for: mostly none, and it would read all of them to find that out.
const QUEUED: &str = "CREATE INDEX digest_queued ON digest(session) WHERE queued AND superseded = 0;";

/// What a digest without the model was made of, beside its session's rows, and what these left open: a `Basis`, as JSON. Where only
/// sessions before it changed, it tells whether that changes anything. Since then `session.dirty` is 2 where it may: nothing of its own did.
///
/// And what the page of its day tells of a session beside its digest, as its own page was written: `Facts`, as JSON.
///
/// A session of which nothing is left keeps the mark of its page until it is gone; from before there may be some without.
const BASIS: &str = "ALTER TABLE digest ADD COLUMN basis TEXT; ALTER TABLE page ADD COLUMN facts TEXT;
UPDATE session SET page_dirty = 1
    WHERE NOT EXISTS (SELECT 1 FROM source WHERE session = session.pk) AND NOT EXISTS (SELECT 1 FROM digest WHERE session = session.pk);";

/// Which model answered to the name it was asked for by, and what the client itself reckons that a session cost, at list price in US
/// dollars, where it knew all prices. Transcripts are read once more: rows of kinds that were passed over tell of usage, too.
const USAGE: &str = "CREATE TABLE answered (asked TEXT PRIMARY KEY, model TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE client_cost (
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  model TEXT NOT NULL,
  usd REAL NOT NULL,
  PRIMARY KEY (session, model)
) WITHOUT ROWID;
UPDATE file SET size = -1, offset = 0;";

/// Two rows on one line cost both until now: files with such lines are read again. What is counted of them is counted again, too.
const GLUED: &str = "
UPDATE file SET size = -1, offset = 0 WHERE pk IN (SELECT file FROM bad_line WHERE why = 'not JSON');
DELETE FROM unknown_row WHERE file IN (SELECT pk FROM file WHERE size = -1 AND offset = 0);
DELETE FROM bad_line WHERE file IN (SELECT pk FROM file WHERE size = -1 AND offset = 0);
-- Bookkeeping of clients since 2.1.263, which is known by now.
DELETE FROM unknown_row WHERE type IN ('atis-latch', 'cost-state', 'tools-used', 'api-request', 'api-request-shape', 'api-request-blob');
";

/// What documents are near to in meaning, where the config names an endpoint for embeddings. All of it can be made again.
const MEANING: &str = "
-- Vectors of one space are compared with each other and with no others. `probe`: the vector of a fixed text, by which a model is known
-- again; `pieces`: how texts were cut; `complete`: every document was embedded once, or refused.
CREATE TABLE vector_space (
  pk INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  dims INTEGER NOT NULL,
  checksum TEXT NOT NULL,
  probe BLOB NOT NULL,
  pieces INTEGER NOT NULL,
  complete INTEGER NOT NULL DEFAULT 0
);
-- Some hundred vectors a row, side by side: numbers of documents (8 bytes each), scales (4), vectors (a byte for each dimension).
CREATE TABLE vector_chunk (
  pk INTEGER PRIMARY KEY,
  space INTEGER NOT NULL REFERENCES vector_space(pk) ON DELETE CASCADE,
  vectors INTEGER NOT NULL,
  docs BLOB NOT NULL,
  scales BLOB NOT NULL,
  body BLOB NOT NULL
);
-- In which chunk a document's vectors lie; NULL where it has no text for one. `text`: a hash of what was embedded. `gone`: the document
-- is no more, and its vectors go before the file is written anew.
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
";

/// One document a session, made from all that is kept of it, in place of one a prompt and digest; and what people want remembered.
const FINDING: &str = "
DROP TABLE doc;
DROP TABLE search;
-- Remembered on request, apart from any session. `project`: whose it is; `session`: where it was said, if that is known.
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
-- What search finds. The texts themselves lie in `digest`, `item` and `note`; a document that is made anew gets a new number, so that
-- high numbers are of what happened last.
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
-- What is stored of it is newer than its document.
ALTER TABLE session ADD COLUMN unindexed INTEGER NOT NULL DEFAULT 1;
CREATE INDEX session_unindexed ON session(unindexed) WHERE unindexed;
";

/// What is not to come back, what is private, and digests of sessions that go on.
const PRIVACY: &str = "
-- Rows that were forgotten or are private, by key, and whole sessions, by id. Never text. What was forgotten can be imported again.
CREATE TABLE forgotten_row (key BLOB PRIMARY KEY, private INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE forgotten_session (id TEXT PRIMARY KEY) WITHOUT ROWID;
-- From a prompt that was all private to the next one; NULL while there is none. What a subagent did meanwhile is private too.
CREATE TABLE private_turn (
  session TEXT NOT NULL,
  from_at INTEGER NOT NULL,
  until_at INTEGER,
  -- The client's id of the prompt.
  prompt TEXT,
  PRIMARY KEY (session, from_at)
) WITHOUT ROWID;
-- What the rows read so far say about the next ones, as JSON; empty where they say nothing.
ALTER TABLE file ADD COLUMN state TEXT NOT NULL DEFAULT '';
-- Transcripts are read once more: nobody looked for private turns before. What could not be read is counted anew.
UPDATE file SET size = -1, offset = 0;
DELETE FROM unknown_row;
-- By what rules the stored texts were cleaned, whether the file is still to be written anew, and the like.
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- A digest made while the session went on: the last time its rows told.
ALTER TABLE digest ADD COLUMN interim_until INTEGER;
-- When the client was about to compact it, until a digest has told so far.
ALTER TABLE session ADD COLUMN compacted_at INTEGER;
-- Ids of digests that are not kept: people still have them.
CREATE TABLE former_digest (
  id TEXT PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX former_digest_session ON former_digest(session);
-- What a digest says, as hashes of its words, and the next session of the project that says nearly the same.
CREATE TABLE likeness (
  session INTEGER PRIMARY KEY REFERENCES session(pk) ON DELETE CASCADE,
  words BLOB NOT NULL,
  repeated_by INTEGER
);
CREATE INDEX likeness_repeated_by ON likeness(repeated_by) WHERE repeated_by IS NOT NULL;
";

/// Open items that the user closed, in the words they had: a digest made anew may give an item another id. A digest's title beside
/// its body: a session's start lists many.
const CLOSED_BY_USER: &str = "
ALTER TABLE digest ADD COLUMN title TEXT;
-- The latest of its sources' `last_at`.
ALTER TABLE session ADD COLUMN last_at INTEGER;
UPDATE session SET last_at = (SELECT max(last_at) FROM source WHERE session = session.pk);
CREATE INDEX session_recent ON session(project, last_at);
CREATE TABLE user_closed (
  id TEXT PRIMARY KEY,
  of INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  text TEXT NOT NULL,
  at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX user_closed_of ON user_closed(of);
";

const FIRST: &str = r#"
-- A transcript file and how far it is stored. `size` and `mtime_ns` are those of the last look: unchanged means nothing to read.
CREATE TABLE file (
  pk INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  head_len INTEGER NOT NULL,
  head_hash BLOB NOT NULL,
  offset INTEGER NOT NULL,
  tail_hash BLOB NOT NULL
);

-- Lines that could not be read, and types of rows this program does not know.
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

-- Sessions of excluded projects: their rows that name no working directory are left out with the others.
CREATE TABLE excluded_session (id TEXT PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE project (pk INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);

-- The first time each file tells of a session, in the order of its rows.
CREATE TABLE start (
  session TEXT NOT NULL,
  file TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (session, file)
) WITHOUT ROWID;

-- `started_at`, the earliest of its `start`, decides who owns a row that several sessions hold.
-- `dirty`: stored rows are newer than the digest. `page_dirty`: the digest is newer than the pages.
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
  skip TEXT
);
CREATE INDEX session_project ON session(project, started_at);
CREATE INDEX session_dirty ON session(dirty) WHERE dirty;
CREATE INDEX session_page_dirty ON session(page_dirty) WHERE page_dirty;

-- The part of a session that lies in one file: its own, a subagent's.
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

-- What the rows of a session say, in the order of their places.
CREATE TABLE item (
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  source INTEGER NOT NULL REFERENCES source(pk) ON DELETE CASCADE,
  offset INTEGER NOT NULL,
  part INTEGER NOT NULL,
  key BLOB NOT NULL,
  at INTEGER,
  kind TEXT NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (session, source, offset, part)
) WITHOUT ROWID;
CREATE UNIQUE INDEX item_key ON item(key, session, part);

-- Summaries by older clients name the last row of the conversation they are about, which lies in any session.
CREATE TABLE leaf_title (leaf BLOB NOT NULL, text TEXT NOT NULL, PRIMARY KEY (leaf, text)) WITHOUT ROWID;

CREATE TABLE usage (
  message TEXT NOT NULL,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  model TEXT NOT NULL,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cache_write_hour INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  PRIMARY KEY (message, session)
) WITHOUT ROWID;
CREATE INDEX usage_session ON usage(session);

-- `queued`: made without the model, which is still wanted. `id` comes from what was digested, never from the run.
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
  body BLOB NOT NULL
);
CREATE UNIQUE INDEX digest_current ON digest(session) WHERE superseded = 0;
CREATE INDEX digest_session ON digest(session);

-- Next steps and blockers, until a later digest or the user closes them.
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
-- What a later session (`session`) closed of an earlier one's (`of`), in the words in which it was shown to it.
CREATE TABLE closed_item (
  id TEXT NOT NULL,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  of INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  text TEXT NOT NULL,
  PRIMARY KEY (id, session)
) WITHOUT ROWID;
CREATE INDEX closed_item_of ON closed_item(of);
CREATE INDEX closed_item_session ON closed_item(session);

-- What search finds: digests and prompts. The text itself lies in `digest` and `item`.
CREATE TABLE doc (
  pk INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(pk) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  key BLOB NOT NULL,
  part INTEGER NOT NULL,
  UNIQUE (session, kind, key, part)
);
CREATE VIRTUAL TABLE search USING fts5(title, body, extra, content='', tokenize='porter unicode61 remove_diacritics 2');
INSERT INTO search(search, rank) VALUES ('secure-delete', 1);

-- Pages on disk, by path below the data folder.
CREATE TABLE page (path TEXT PRIMARY KEY, session INTEGER, day TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX page_day ON page(day);
CREATE INDEX page_session ON page(session);

-- Money: the worst case is reserved before a call and replaced by the real cost after it.
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
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_lines_that_could_not_be_read_are_read_again_and_no_others() {
        let db = Connection::open_in_memory().unwrap();
        MIGRATIONS.iter().try_for_each(|step| step.take(&db)).unwrap();
        let older = "INSERT INTO file(pk, path, size, mtime_ns, head_len, head_hash, offset, tail_hash)
                SELECT value, 'f' || value, 10, 1, 1, x'00', 10, x'00' FROM json_each('[1, 2, 3]');
            INSERT INTO bad_line VALUES (1, 5, 'not JSON'), (1, 7, 'not an object'), (2, 5, 'longer than 16 MiB');
            INSERT INTO unknown_row VALUES (1, 'x', 3), (2, 'y', 1), (3, 'cost-state', 9)";
        db.execute_batch(older).unwrap();
        Step::Sql(GLUED).take(&db).unwrap();
        let left =
            "SELECT group_concat(pk || ':' || size || ':' || offset) FROM file UNION ALL SELECT group_concat(file) FROM bad_line
            UNION ALL SELECT group_concat(type) FROM unknown_row";
        let mut query = db.prepare(left).unwrap();
        let all: Vec<String> = query.query_map([], |r| r.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap();
        assert_eq!(all, ["1:-1:0,2:10:10,3:10:10", "2", "y"]);
    }
}
