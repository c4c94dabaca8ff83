//! Feeding files whole or in slices, and what has to be equal afterwards.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::slices::sessions::{CLAUDE, Files, RICH, SCRIPTED};
use crate::support::chunks::bundled;
use crate::support::{World, age};

pub fn write(world: &World, path: &Path, bytes: &[u8]) {
    let file = world.claude_dir().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, bytes).unwrap();
    age(&file, Duration::from_secs(3600));
}

pub fn world(arguments: &[&str]) -> World {
    let world = World::new();
    if arguments == CLAUDE {
        world.configure(RICH);
        world.fake_claude(SCRIPTED);
    }
    world
}

/// All that has to be equal: pages, stored sessions, and what was counted.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    pub pages: Vec<(String, String)>,
    pub sessions: Vec<String>,
    pub rows: Vec<String>,
}

impl Outcome {
    pub fn of(world: &World) -> Self {
        let root = world.root().to_str().unwrap().to_owned();
        let stored = world.exported().into_iter().map(|s| s.to_string().replace(&root, "<world>")).collect();
        Self {
            pages: world.pages(),
            sessions: stored,
            rows: rows(world).into_iter().map(|r| r.replace(&root, "<world>")).collect(),
        }
    }
}

/// What the export leaves out, by natural keys and in a fixed order.
pub fn rows(world: &World) -> Vec<String> {
    const TABLES: [&str; 12] = [
        "SELECT 'file', path, size, hex(head_hash), head_len, offset FROM file",
        "SELECT 'bad', f.path, b.offset, b.why FROM bad_line b JOIN file f ON f.pk = b.file",
        "SELECT 'unknown', f.path, u.type, u.rows FROM unknown_row u JOIN file f ON f.pk = u.file",
        "SELECT 'start', session, file, at FROM start",
        "SELECT 'session', s.id, p.key, s.started_at, s.grew_at, s.dirty || ' ' || s.page_dirty || ' ' || coalesce(s.skip, '') FROM session s JOIN project p ON p.pk = s.project",
        "SELECT 'source', s.id, o.file, o.agent, o.cwd, coalesce(o.first_at, '') || ' ' || coalesce(o.last_at, '') || o.branches || o.versions FROM source o JOIN session s ON s.pk = o.session",
        "SELECT 'leaf', hex(leaf), text FROM leaf_title",
        "SELECT 'digest', s.id, d.id, d.summarizer || coalesce(d.model, ''), hex(d.input_hash), d.queued || hex(d.body) FROM digest d JOIN session s ON s.pk = d.session WHERE NOT d.superseded",
        "SELECT 'open', o.id, s.id, o.kind || o.text, coalesce(o.at, ''), o.verified || ' ' || o.place || ' ' || o.life FROM open_item o JOIN session s ON s.pk = o.session",
        "SELECT 'closed', c.id, s.id FROM closed_item c JOIN session s ON s.pk = c.session",
        "SELECT 'closes', c.id, s.id FROM closing c JOIN session s ON s.pk = c.session",
        "SELECT 'doc', s.id, p.key, d.began_at, d.last_at, s.unindexed FROM doc d JOIN project p ON p.pk = d.project JOIN session s ON s.pk = d.session UNION ALL SELECT 'page', p.path, coalesce(s.id, ''), p.day, '', '' FROM page p LEFT JOIN session s ON s.pk = p.session",
    ];
    let db = world.database();
    let mut all = Vec::new();
    for sql in TABLES {
        let mut query = db.prepare(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        let columns = query.column_count();
        let text =
            |r: &rusqlite::Row<'_>, at: usize| r.get_ref(at).map(|v| v.as_str().map_or_else(|_| format!("{v:?}"), str::to_owned));
        let found = query.query_map([], |r| (0..columns).map(|at| text(r, at)).collect::<Result<Vec<_>, _>>()).unwrap();
        all.extend(found.map(|r| r.unwrap().join(" ")));
    }
    all.extend(bundled(&db));
    all.sort();
    all
}

pub fn whole(files: &Files, arguments: &[&str]) -> Outcome {
    let world = world(arguments);
    for (path, bytes) in files {
        write(&world, path, bytes);
    }
    let ran = world.recall(["digest"].iter().chain(arguments));
    assert!(ran.code < 2, "{ran:#?}");
    Outcome::of(&world)
}

/// Feeds the files in steps: `shares[step][file]` is how much of the file, in thousandths, is there at that step.
pub fn sliced(files: &Files, shares: &[Vec<usize>], arguments: &[&str]) -> Outcome {
    let world = world(arguments);
    for step in shares {
        for ((path, bytes), share) in files.iter().zip(step) {
            let there = bytes.len() * share / 1000;
            if there > 0 {
                write(&world, path, &bytes[..there]);
            }
        }
        let ran = world.recall(["digest"].iter().chain(arguments));
        assert!(ran.code < 2, "{ran:#?}");
    }
    Outcome::of(&world)
}

pub fn assert_equal(one: &Outcome, other: &Outcome) {
    for ((name, a), (other_name, b)) in one.pages.iter().zip(&other.pages) {
        assert_eq!(name, other_name);
        assert!(a == b, "{name} differs:\n{a}\n-------- and\n{b}");
    }
    assert_eq!(one.pages.len(), other.pages.len());
    let missing: Vec<_> = one.rows.iter().filter(|r| !other.rows.contains(r)).collect();
    let added: Vec<_> = other.rows.iter().filter(|r| !one.rows.contains(r)).collect();
    assert!(missing.is_empty() && added.is_empty(), "only in the first: {missing:#?}\nonly in the second: {added:#?}");
    assert_eq!(one.sessions, other.sessions);
}

/// Ten steps in which each file grows at a pace of its own.
pub fn ten_steps(files: &Files) -> Vec<Vec<usize>> {
    let at = |step: usize, file: usize| {
        if step == 10 { 1000 } else { (step * (83 + (file * 37) % 31)).saturating_sub((file * 101) % 170).min(1000) }
    };
    (1..=10).map(|step| (0..files.len()).map(|file| at(step, file)).collect()).collect()
}
