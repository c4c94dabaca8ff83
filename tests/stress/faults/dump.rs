//! All that a database holds, in words that do not depend on the order in which it came in.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::support::chunks::bundled;

/// Tables that tell how often it was run and not what came of it: a run that is cut short and begun again is two runs. What is in
/// `spend` is looked at by itself: every call of the model is one row.
const OF_RUNS: [&str; 3] = ["run", "spend", "sqlite_sequence"];

/// Facts that name rows by their keys, as what of a project the repository was asked about: keys tell how often something was begun.
const OF_KEYS: &str = " WHERE name NOT GLOB 'repository:*'";

/// Tables of which a row holds what one transaction brought: `bundled` has what they say.
const BUNDLED: [&str; 2] = ["bundle", "bundle_hash"];

/// How rows are named by others: table, expression.
const NAMES: [(&str, &str); 6] = [
    ("session", "id"),
    ("project", "key"),
    ("file", "path"),
    ("digest", "id"),
    ("note", "id"),
    ("source", "(SELECT id FROM session WHERE pk = source.session) || ' ' || file || ' ' || agent"),
];

/// Columns that point to rows of other tables without saying so: table, column, table pointed to.
const POINTERS: [(&str, &str, &str); 5] = [
    ("page", "session", "session"),
    ("likeness", "repeated_by", "session"),
    ("doc", "project", "project"),
    ("kin", "session", "session"),
    ("kin", "other", "session"),
];

/// The rows of every table, sorted, a line each.
pub fn dump(db: &Connection) -> Vec<String> {
    let mut lines = Vec::new();
    for table in tables(db) {
        lines.extend(rows(db, &table));
    }
    lines.extend(bundled(db));
    lines.extend(words(db));
    lines.sort();
    lines
}

fn strings(db: &Connection, sql: &str) -> Vec<String> {
    let mut query = db.prepare(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let found = query.query_map([], |r| r.get(0)).and_then(Iterator::collect::<Result<_, _>>);
    found.unwrap_or_else(|e| panic!("{sql}: {e}"))
}

/// Without the inner tables of the full-text index: `words` has what they say.
fn tables(db: &Connection) -> Vec<String> {
    let all = strings(db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search%' ORDER BY name");
    all.into_iter().filter(|name| !OF_RUNS.contains(&name.as_str()) && !BUNDLED.contains(&name.as_str())).collect()
}

fn rows(db: &Connection, table: &str) -> Vec<String> {
    let columns = strings(db, &format!("SELECT name FROM pragma_table_info('{table}') WHERE name <> 'pk' ORDER BY name"));
    let mut points: BTreeMap<String, String> = POINTERS.iter().filter(|p| p.0 == table).map(|p| (p.1.into(), p.2.into())).collect();
    let declared = strings(db, &format!("SELECT \"from\" || ' ' || \"table\" FROM pragma_foreign_key_list('{table}')"));
    points.extend(declared.iter().filter_map(|d| d.split_once(' ')).map(|(from, to)| (from.to_owned(), to.to_owned())));
    let shown: Vec<String> = columns.iter().map(|column| expression(table, column, points.get(column))).collect();
    let sql = format!("SELECT {} FROM \"{table}\"{}", shown.join(", "), if table == "fact" { OF_KEYS } else { "" });
    let mut query = db.prepare(&sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let line = |r: &rusqlite::Row<'_>| {
        let cells = columns.iter().enumerate().map(|(at, name)| Ok(format!("{name}={}", cell(r.get_ref(at)?))));
        Ok(format!("{table}: {}", cells.collect::<rusqlite::Result<Vec<_>>>()?.join(" ")))
    };
    query.query_map([], line).and_then(Iterator::collect).unwrap_or_else(|e| panic!("{sql}: {e}"))
}

fn expression(table: &str, column: &str, points_to: Option<&String>) -> String {
    match points_to.and_then(|to| NAMES.iter().find(|(name, _)| name == to)) {
        Some((to, name)) => format!("(SELECT {name} FROM \"{to}\" WHERE pk = \"{table}\".\"{column}\")"),
        None => format!("\"{column}\""),
    }
}

fn cell(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "-".into(),
        ValueRef::Integer(n) => n.to_string(),
        ValueRef::Real(n) => n.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => format!("{} bytes, {}", bytes.len(), &blake3::hash(bytes).to_hex()[..16]),
    }
}

/// What search finds where.
fn words(db: &Connection) -> Vec<String> {
    db.execute_batch("CREATE VIRTUAL TABLE IF NOT EXISTS temp.words USING fts5vocab('main', 'search', 'instance')")
        .expect("the words");
    let of = "coalesce((SELECT id FROM session WHERE pk = doc.session), (SELECT id FROM note WHERE pk = doc.note), 'nothing')";
    let sql = format!(
        "SELECT {of} || ' ' || col || ' ' || group_concat(term || '@' || \"offset\", ' ') FROM
        (SELECT * FROM temp.words ORDER BY col, \"offset\", term) w LEFT JOIN doc ON doc.pk = w.doc GROUP BY w.doc, col"
    );
    strings(db, &sql).into_iter().map(|line| format!("search: {line}")).collect()
}
