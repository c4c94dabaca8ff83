//! What is overtaken depends on what is stored, and not on how that came about.

use std::fmt::Debug;

use rusqlite::Connection;

use crate::support::{World, assistant, user};

const EXTRACT: &[&str] = &["--summarizer", "extract"];
const SESSIONS: u64 = 5;

/// Repeatable dice.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn statement(&mut self) -> String {
        let thing = ["session cache", "upload queue"][self.below(2) as usize];
        let (one, other) = [("Redis", "Postgres"), ("Postgres", "Redis"), ("Redis", "Kafka")][self.below(3) as usize];
        let value = [30, 60, 90][self.below(3) as usize];
        match self.below(5) {
            0 => format!("The {thing} uses {one}."),
            1 => format!("The {thing} no longer uses {one}, it uses {other}."),
            2 => format!("The {thing} timeout is {value} seconds."),
            3 => format!("I raised the {thing} timeout to {value} seconds."),
            _ => format!("The {thing} timeout is back at {value} seconds."),
        }
    }
}

fn session_id(n: u64) -> String {
    format!("{n:08}-0000-4000-8000-000000000000")
}

/// A session of these turns, each of one statement of the user's and one of the assistant's.
fn rows(n: u64, turns: std::ops::Range<u64>, dice: &mut Dice) -> String {
    let id = session_id(n);
    let turn = |turn: u64| {
        let at = |minute: u64| format!("2026-11-{:02}T09:{:02}:00Z", 10 + n, turn * 2 + minute);
        user(&id, &format!("u{n}-{turn}"), &at(0), &dice.statement())
            + &assistant(
                &id,
                &format!("a{n}-{turn}"),
                &at(1),
                &format!("I looked at it. {} {}", dice.statement(), dice.statement()),
            )
    };
    turns.map(turn).collect()
}

/// All links as they are stored, and all pages.
fn told(world: &World) -> (Vec<String>, Vec<(String, String)>) {
    let db = world.database();
    let mut query = db.prepare("SELECT * FROM overtaken ORDER BY id").expect("the links");
    let links = query.query_map([], |row| {
        let cells: Result<Vec<rusqlite::types::Value>, _> = (0..11).map(|at| row.get(at)).collect();
        Ok(as_text(&cells?))
    });
    (links.expect("the links").collect::<Result<_, _>>().expect("the links"), world.pages())
}

fn as_text(value: &impl Debug) -> String {
    format!("{value:?}")
}

/// Sessions and notes come, change and go, and after each step all is as if it were found for the first time.
#[test]
fn whatever_came_and_went_the_same_is_overtaken_as_if_all_were_found_anew() {
    let mut links = 0;
    for history in 0..3 {
        let (world, mut dice) = (World::new(), Dice(history));
        let (mut turns, mut notes) = ([0_u64; SESSIONS as usize], Vec::<String>::new());
        for _ in 0..12 {
            let n = dice.below(SESSIONS);
            let has = turns[n as usize];
            match dice.below(7) {
                0 => {
                    let ran = world.recall(["remember", "--json", "--project", "/home/dev/src/shop", &dice.statement()]);
                    assert_eq!(ran.code, 0, "{ran:#?}");
                    let note: serde_json::Value = serde_json::from_str(&ran.out).expect("a note");
                    notes.push(note["id"].as_str().expect("an id").to_owned());
                }
                1 if !notes.is_empty() => {
                    let note = notes.swap_remove(dice.below(notes.len() as u64) as usize);
                    let is_changed = dice.below(2) == 0;
                    let ran = match is_changed {
                        true => world.recall(["remember", "--edit", &note, &dice.statement()]),
                        false => world.recall(["forget", "--yes", "--note", &note]),
                    };
                    assert_eq!(ran.code, 0, "{ran:#?}");
                    notes.extend(is_changed.then_some(note));
                }
                2 if has > 0 && has < u64::MAX => {
                    let ran = world.recall(["forget", "--yes", "--session", &session_id(n)]);
                    assert_eq!(ran.code, 0, "{ran:#?}");
                    // What was forgotten is not read again.
                    turns[n as usize] = u64::MAX;
                }
                _ if has == u64::MAX => {}
                _ if has > 0 => {
                    world.append(&session_id(n), &rows(n, has..has + 1, &mut dice));
                    turns[n as usize] += 1;
                }
                _ => {
                    world.transcript(&format!("-home-dev-src-shop/{}.jsonl", session_id(n)), rows(n, 0..2, &mut dice));
                    turns[n as usize] = 2;
                }
            }
            world.digest(EXTRACT);
            let before = told(&world);
            let index = Connection::open(world.data_dir().join("recall.db")).expect("the index");
            index.execute_batch("DELETE FROM overtaken; DELETE FROM fact WHERE name = 'overtaken rules'").expect("no links");
            drop(index);
            world.digest(EXTRACT);
            assert_eq!(told(&world), before, "history {history}");
            links += before.0.len();
        }
    }
    assert!(links > 20, "only {links} links were compared");
}
