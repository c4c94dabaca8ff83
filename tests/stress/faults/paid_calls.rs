//! A scripted `claude` whose calls are counted, each for what it was asked: nothing may be paid for twice.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::faults::scene::Scene;
use crate::support::{World, copy_tree, files_below, numbered_reply};

/// What a call costs, in US dollars.
const COST: f64 = 0.0123;

/// Each call is known by a sum over what it was asked, which comes back in the title of its digest. It is noted before the call is
/// answered and after, in lines that outlive whoever called. Where is told at its start: it goes on when `recall` is killed.
const SCRIPT: &str = r#"#!/bin/sh
read calls < "{here}/calls"
sum=$(cksum)
sum=${sum%% *}
echo "asked $sum" >> "$calls"
sed "s/SUM/$sum/g" "{here}/reply"
echo "answered $sum" >> "$calls"
"#;

pub struct Paid {
    /// Where the script looks where it is to note its calls.
    told: PathBuf,
    calls: RefCell<tempfile::NamedTempFile>,
}

/// What the calls were about and how often each was made.
pub type Calls = BTreeMap<String, usize>;

impl Paid {
    /// Puts the scripted `claude` into the world.
    pub fn new(world: &World) -> Self {
        let here = world.root().to_str().expect("UTF-8");
        fs::write(world.root().join("reply"), numbered_reply(COST)).expect("the reply");
        world.fake_claude(&SCRIPT.replace("{here}", here));
        world.configure("[digest]\nmax_cost_usd = 1000.0\nmax_cost_usd_per_day = 1000.0\n");
        let calls = RefCell::new(tempfile::NamedTempFile::new().expect("a temporary file"));
        let paid = Self { told: world.root().join("calls"), calls };
        paid.reset();
        paid
    }

    /// Forgets the calls there were, and those that are still to come of what was killed.
    pub fn reset(&self) {
        let calls = tempfile::NamedTempFile::new().expect("a temporary file");
        fs::write(&self.told, format!("{}\n", calls.path().display())).expect("where calls are noted");
        *self.calls.borrow_mut() = calls;
    }

    fn noted(&self, what: &str) -> Calls {
        let mut calls = Calls::new();
        for line in fs::read_to_string(self.calls.borrow().path()).unwrap_or_default().lines() {
            if let Some(sum) = line.strip_prefix(what) {
                *calls.entry(sum.trim().to_owned()).or_default() += 1;
            }
        }
        calls
    }

    pub fn asked(&self) -> Calls {
        self.noted("asked ")
    }

    pub fn answered(&self) -> Calls {
        self.noted("answered ")
    }

    /// What was answered and is stored, as a reply or as a digest. Looks at a copy: opening a database that was left by a process
    /// that was killed tidies it.
    pub fn stored(&self, scene: &Scene) -> BTreeSet<String> {
        let asked = self.asked();
        let copy = tempfile::tempdir().expect("a temporary folder");
        copy_tree(&scene.world.data_dir(), copy.path());
        let replies = files_below(&copy.path().join("replies")).into_iter().filter(|f| f.extension().is_some_and(|e| e == "json"));
        let mut texts: Vec<String> = replies.map(|f| fs::read_to_string(f).expect("a reply")).collect();
        texts.extend(titles(&copy.path().join("recall.db")));
        asked.into_keys().filter(|sum| texts.iter().any(|text| text.contains(&format!("Work number {sum} ")))).collect()
    }
}

impl Paid {
    /// How often a sum was put aside for what was asked.
    pub fn sums_reserved(&self, scene: &Scene, sum: &str) -> usize {
        let session =
            "SELECT session.id FROM session JOIN digest ON digest.session = session.pk WHERE title LIKE '% ' || ?1 || ' %'";
        let sql = format!("SELECT count(*) FROM spend WHERE session = ({session})");
        let noted: i64 = scene.world.database().query_row(&sql, [sum], |r| r.get(0)).expect("what was spent");
        noted as usize
    }
}

fn titles(database: &std::path::Path) -> Vec<String> {
    let Ok(db) = rusqlite::Connection::open(database) else { return Vec::new() };
    let Ok(mut query) = db.prepare("SELECT title FROM digest WHERE title IS NOT NULL") else { return Vec::new() };
    query.query_map([], |r| r.get(0)).and_then(Iterator::collect).unwrap_or_default()
}

/// Else it is asked about, and paid for, as if it had never failed.
#[test]
fn that_a_call_failed_and_what_it_cost_is_on_the_disk_before_the_run_goes_on() {
    let world = World::with_fixtures(&["plain"]);
    let _paid = Paid::new(&world);
    let said = json!({"type": "result", "is_error": false, "result": "Quite impossible", "total_cost_usd": COST});
    fs::write(world.root().join("reply"), said.to_string()).expect("the reply");
    let scene = Scene::new(world, &["digest"]);
    let blobs = tempfile::tempdir().expect("a temporary folder");
    let calls = scene.recorded_ending(1, blobs.path());
    let holds = |number: usize| {
        let synced = fs::read(blobs.path().join(number.to_string())).expect("what was synced");
        memchr::memmem::find(&synced, b"prose").is_some()
    };
    let log = |file: &std::path::Path| file.ends_with("recall.db-wal");
    let noted = calls.iter().position(|call| call.what == "sync" && log(&call.path) && holds(call.number));
    let pages = calls.iter().position(|call| call.path.starts_with(scene.world.data_dir().join("daily")));
    assert!(noted.is_some() && noted < pages, "{noted:?} {pages:?}");
    let failed = scene.world.count("SELECT count(*) FROM attempt WHERE error LIKE '%prose%'");
    assert_eq!(failed, 1, "it is the failure that says so");
}
