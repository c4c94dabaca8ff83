//! The schema: SQL files in `migrations/`, oldest first.
//!
//! A new index is made by one file, `new_index.sql`: what all of these make together, drawn from them by a test.
//!
//! `user_version` is the format of an index. The first file makes format 8; every later one leads from the format before to the one its
//! name begins with. A file that is in the list is never edited: indexes of its format exist. New ones are appended.
//!
//! ## Older words
//! Three tables have names from before their words: `bundle` holds **chunks**, `kin` pairs **forks**, `likeness` finds **near-duplicates**.
//! They keep them: renaming would rewrite indexes of gigabytes, and break repair from copies of before, for a word that no user reads.

use anyhow::Result;
use rusqlite::Connection;

/// One step: what an index of the format before needs to have `format`.
pub(crate) struct Migration {
    pub(crate) format: usize,
    sql: &'static str,
}

macro_rules! migration {
    ($format:literal, $file:literal) => {
        Migration { format: $format, sql: include_str!(concat!("../../migrations/", $file, ".sql")) }
    };
}

/// Oldest first.
pub(crate) const MIGRATIONS: [Migration; 29] = [
    migration!(8, "0001_init"),
    migration!(9, "0009_authors"),
    migration!(10, "0010_usage"),
    migration!(11, "0011_glued"),
    migration!(12, "0012_turns"),
    migration!(13, "0013_steps"),
    migration!(14, "0014_evidence"),
    migration!(15, "0015_account"),
    migration!(16, "0016_pages"),
    migration!(17, "0017_quoted"),
    migration!(18, "0018_folders"),
    migration!(19, "0019_declined"),
    migration!(20, "0020_wrong"),
    migration!(21, "0021_lives"),
    migration!(22, "0022_parts"),
    migration!(23, "0023_overtaken"),
    migration!(24, "0024_observation"),
    migration!(25, "0025_rules"),
    migration!(26, "0026_failures"),
    migration!(27, "0027_receipts"),
    migration!(28, "0028_memory_file"),
    migration!(29, "0029_client"),
    migration!(30, "0030_origin"),
    migration!(31, "0031_later_day"),
    migration!(32, "0032_failure_aside"),
    migration!(33, "0033_named_rules"),
    migration!(34, "0034_session_end"),
    migration!(35, "0035_narrow_indexes"),
    migration!(36, "0036_folders_by_session"),
];

/// What makes an index of format [`FORMAT`] out of an empty file.
const NEW_INDEX: &str = include_str!("new_index.sql");

/// The oldest format that can be upgraded.
pub(crate) const OLDEST: usize = MIGRATIONS[0].format;
/// The format of every index this program writes.
pub(crate) const FORMAT: usize = MIGRATIONS[MIGRATIONS.len() - 1].format;

/// Tables, indexes and triggers of an index of that format: a migration that makes or drops one changes this list.
pub(crate) const NAMES: [&str; 106] = [
    "account_gone", "answered", "asked", "asked_parent", "attempt", "bad_line", "bundle", "bundle_hash", "bundle_session",
    "bundle_source", "client_cost", "closed_item", "closed_item_of", "closed_item_session", "closing", "closing_session",
    "command", "digest", "digest_account", "digest_current", "digest_queued", "digest_session", "doc", "doc_gone",
    "doc_memory_file", "doc_project", "doc_unembedded", "embedded", "embedded_chunk", "embedded_gone", "excluded_session", "fact",
    "failure", "failure_signature", "file", "forgotten_row", "forgotten_session", "former_digest", "former_digest_session", "kin",
    "later_day", "later_day_day", "leaf_title", "likeness", "likeness_repeated_by", "memory_file", "memory_file_project",
    "memory_file_seen", "note", "note_project", "observation", "observation_digest", "observation_note", "open_item",
    "open_item_life", "open_item_lifeless", "open_item_session", "origin", "origin_digested", "origin_machine", "overtaken",
    "overtaken_digest", "overtaken_later_digest", "overtaken_later_note", "page", "page_day", "page_session", "private_turn",
    "private_turn_open", "private_word", "project", "receipt", "receipt_gone", "receipt_used", "rule_mention", "rule_mention_gone",
    "run", "search", "search_config", "search_data", "search_docsize", "search_idx", "session", "session_dirty", "session_end",
    "session_folder", "session_folder_session", "session_gone", "session_moved", "session_page_dirty", "session_project",
    "session_recent", "session_unindexed", "source", "source_file", "source_place", "spend", "spend_at", "start", "start_first",
    "unknown_row", "user_closed", "user_closed_of", "vector_chunk", "vector_space", "wrong",
];

/// What SQLite adds to these of its own: an index for each of a table's `UNIQUE` columns, and the last number of each table that counts on.
pub(crate) const NAMES_BY_SQLITE: [&str; 10] = [
    "sqlite_autoindex_digest_1", "sqlite_autoindex_doc_1", "sqlite_autoindex_doc_2", "sqlite_autoindex_file_1",
    "sqlite_autoindex_memory_file_1", "sqlite_autoindex_note_1", "sqlite_autoindex_project_1", "sqlite_autoindex_session_1",
    "sqlite_autoindex_source_1", "sqlite_sequence",
];

/// No program will ever write a later format: such a number is damage.
pub(crate) const LAST: usize = 9999;

/// Makes a new index within the caller's transaction, and leaves `user_version` to it.
pub(crate) fn make_new(db: &Connection) -> Result<()> {
    Ok(db.execute_batch(NEW_INDEX)?)
}

impl Migration {
    /// Runs within the caller's transaction, and leaves `user_version` to it.
    pub(crate) fn run(&self, db: &Connection) -> Result<()> {
        Ok(db.execute_batch(self.sql)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name and statement of everything in the schema. `ALTER TABLE` keeps other white space than a statement that has all columns.
    fn schema_of(db: &Connection) -> Vec<(String, String)> {
        let mut query = db.prepare("SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema ORDER BY 1").unwrap();
        let rows = query.query_map([], |r| Ok((r.get(0)?, plain(&r.get::<_, String>(1)?)))).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    }

    /// Without comments, and without white space where it means nothing.
    fn plain(sql: &str) -> String {
        let code = sql.lines().map(|line| line.split("--").next().unwrap_or_default());
        let words: Vec<&str> = code.flat_map(str::split_whitespace).collect();
        [" ,", ", ", "( ", " )"].iter().fold(words.join(" "), |sql, gap| sql.replace(gap, gap.trim()))
    }

    /// An index that all steps made.
    fn made_in_steps() -> Connection {
        let db = Connection::open_in_memory().unwrap();
        MIGRATIONS.iter().for_each(|step| step.run(&db).unwrap());
        db
    }

    fn texts(db: &Connection, sql: &str) -> Vec<String> {
        let mut query = db.prepare(sql).unwrap();
        query.query_map([], |r| r.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
    }

    /// The statements that make what all steps make.
    fn drawn() -> String {
        let head =
            "-- What the files in `migrations/` make together. `RECALL_WRITE_DOCS=1 cargo test --lib new_index` draws it anew.";
        // The other tables of the full-text index come with it.
        let made = "SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'search_*' ORDER BY rowid";
        [vec![head.to_owned()], texts(&made_in_steps(), made)].concat().join("\n\n") + "\n"
    }

    /// All rows of all tables, as text.
    fn rows_of(db: &Connection) -> Vec<(String, Vec<String>)> {
        let tables = texts(db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'search' ORDER BY 1").into_iter();
        let rows = |table: &str| {
            let columns = texts(db, &format!("SELECT 'quote(\"' || name || '\")' FROM pragma_table_info('{table}')"));
            texts(db, &format!("SELECT {} FROM \"{table}\" ORDER BY 1", columns.join(" || ',' || ")))
        };
        tables.map(|table| (table.clone(), rows(&table))).collect()
    }

    #[test]
    fn a_new_index_is_what_all_steps_make() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/new_index.sql");
        if std::env::var_os("RECALL_WRITE_DOCS").is_some() {
            std::fs::write(file, drawn()).unwrap();
        }
        assert!(
            std::fs::read_to_string(file).unwrap() == drawn(),
            "new_index.sql is not what the steps make: `RECALL_WRITE_DOCS=1 cargo test --lib new_index` draws it anew"
        );
        let (new, stepped) = (Connection::open_in_memory().unwrap(), made_in_steps());
        make_new(&new).unwrap();
        assert_eq!(schema_of(&new), schema_of(&stepped));
        let rows = rows_of(&new);
        assert!(rows.len() > 40, "tables are not found: {rows:?}");
        assert_eq!(rows, rows_of(&stepped));
    }

    #[test]
    fn the_names_are_those_of_a_fresh_index() {
        let fresh = made_in_steps();
        let named = |which: &str| texts(&fresh, &format!("SELECT name FROM sqlite_schema WHERE name {which} ORDER BY 1"));
        assert_eq!(named("NOT GLOB 'sqlite_*'"), NAMES);
        assert_eq!(named("GLOB 'sqlite_*'"), NAMES_BY_SQLITE);
    }

    #[test]
    fn the_first_file_makes_the_schema_of_an_index_of_format_8() {
        let folder = tempfile::tempdir().unwrap();
        let packed = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/index-format-8.db.zst")).unwrap();
        let file = folder.path().join("index.db");
        std::fs::write(&file, zstd::bulk::decompress(&packed, 1 << 20).unwrap()).unwrap();
        let (written, made) = (Connection::open(&file).unwrap(), Connection::open_in_memory().unwrap());
        MIGRATIONS[0].run(&made).unwrap();
        let all = schema_of(&written);
        assert_eq!(all.len(), 73, "tables, indexes, triggers");
        assert_eq!(all, schema_of(&made));
        assert_eq!(written.query_row("PRAGMA user_version", [], |r| r.get::<_, i64>(0)).unwrap(), OLDEST as i64);
        // And every later file changes both alike.
        for step in &MIGRATIONS[1..] {
            [&written, &made].iter().for_each(|db| step.run(db).unwrap());
            assert_eq!(schema_of(&written), schema_of(&made), "format {}", step.format);
        }
    }

    #[test]
    fn every_file_of_the_folder_is_in_the_list_under_its_number_oldest_first() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
        let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let numbers = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()[..4].parse::<usize>().unwrap());
        // The first file stands for formats 1 to 8.
        let formats: Vec<usize> = numbers.map(|number| number.max(OLDEST)).collect();
        assert_eq!(formats, MIGRATIONS.iter().map(|step| step.format).collect::<Vec<_>>());
        assert_eq!(formats, (OLDEST..=FORMAT).collect::<Vec<_>>(), "no format is left out");
        for (file, step) in files.iter().zip(&MIGRATIONS) {
            assert_eq!(std::fs::read_to_string(file).unwrap(), step.sql, "{}", file.display());
        }
    }

    #[test]
    fn files_with_lines_that_could_not_be_read_are_read_again_and_no_others() {
        let db = made_in_steps();
        let older = "INSERT INTO file(pk, path, size, mtime_ns, head_len, head_hash, offset, tail_hash)
                SELECT value, 'f' || value, 10, 1, 1, x'00', 10, x'00' FROM json_each('[1, 2, 3]');
            INSERT INTO bad_line VALUES (1, 5, 'not JSON'), (1, 7, 'not an object'), (2, 5, 'longer than 16 MiB');
            INSERT INTO unknown_row VALUES (1, 'x', 3), (2, 'y', 1), (3, 'cost-state', 9)";
        db.execute_batch(older).unwrap();
        MIGRATIONS.iter().find(|step| step.format == 11).unwrap().run(&db).unwrap();
        let left =
            "SELECT group_concat(pk || ':' || size || ':' || offset) FROM file UNION ALL SELECT group_concat(file) FROM bad_line
            UNION ALL SELECT group_concat(type) FROM unknown_row";
        let mut query = db.prepare(left).unwrap();
        let all: Vec<String> = query.query_map([], |r| r.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap();
        assert_eq!(all, ["1:-1:0,2:10:10,3:10:10", "2", "y"]);
    }
}
