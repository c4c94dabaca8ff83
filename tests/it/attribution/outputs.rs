//! What is kept and told of sessions, and as whose words.

use serde_json::Value;

use crate::support::World;
use crate::support::rows::{Rows, SHOP, put};

/// A world that has digested these sessions without a model.
pub fn digested(sessions: &[Rows]) -> World {
    let world = World::new();
    for rows in sessions {
        put(&world, &rows.id, &rows.text);
    }
    world.digest(&[]);
    world
}

/// All that the index keeps, item by item, as `kind` and `data`.
pub fn items(world: &World) -> Vec<Value> {
    let ran = world.recall(["export"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let mut found = Vec::new();
    for line in ran.out.lines() {
        collect(&serde_json::from_str(line).expect("JSON"), &mut found);
    }
    found
}

/// Items lie somewhere below; the form of an export is not what is tested here.
fn collect(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Object(fields) if fields.contains_key("kind") && fields.contains_key("data") => found.push(value.clone()),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, found)),
        Value::Array(all) => all.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}

/// The user's prompts that are kept.
pub fn prompts(world: &World) -> Vec<String> {
    let is_prompt = |item: &&Value| item["kind"] == "prompt";
    items(world).iter().filter(is_prompt).map(|item| item["data"].as_str().expect("a text").to_owned()).collect()
}

/// All that people, models and programs are told: pages, notes for a session's start, a session in full, search.
pub fn told(world: &World, sessions: &[Rows]) -> String {
    let mut told: String = world.pages().into_iter().map(|(_, page)| page).collect();
    let id = |rows: &Rows| rows.id.clone();
    let shown = sessions.iter().map(id).flat_map(|id| {
        [vec!["show".into(), id.clone()], vec!["timeline".into(), id.clone()], vec!["show".into(), id, "--items".into()]]
    });
    let context = ["context", "--cwd", SHOP].map(str::to_owned).to_vec();
    for command in shown.chain([context]) {
        told += &world.recall(&command).out;
    }
    told
}

/// The lines of a text that hold a word.
pub fn lines_with<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    text.lines().filter(|line| line.contains(word)).collect()
}
