//! What is kept is kept short. A secret that lies where a text is cut is not kept in half.

use serde_json::json;

use crate::secrets::forms::{Form, written};
use crate::secrets::kinds::{KINDS, Shape};
use crate::secrets::outputs::{kept, leaks, said};
use crate::secrets::places::Planted;
use crate::secrets::table::{CONFIG, tell};
use crate::support::World;
use crate::support::rows::{Rows, bash, put};

/// Secrets of several lengths and shapes.
const CUT: [&str; 7] =
    ["github personal", "anthropic", "postgres url", "NAME=\"secret\"", "jwt", "rsa key", "aws secret access key"];
/// Secrets of which a half is as telling, and no longer looks like one.
const LONG: [&str; 6] = ["rsa key", "openssh key", "pgp key", "gcp service account", "key without an end", "kubeconfig key"];
/// Where texts may be cut, in characters from their start: what is known of the lengths that are kept of titles, lines, commands,
/// briefs, statements.
const LENGTHS: [usize; 9] = [80, 100, 120, 160, 180, 200, 360, 500, 600];
/// How much of the secret lies before the cut.
const BEFORE: [usize; 3] = [8, 24, 40];

/// Ordinary words of this length.
fn filler(length: usize) -> String {
    "the list of orders breaks on the first page ".chars().cycle().take(length).collect()
}

fn grown(name: &str, place: &str) -> (String, Planted) {
    let kind = KINDS.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("no kind {name}"));
    let grown = kind.grown(place);
    let form = if kind.shape == Shape::Text { Form::Start } else { Form::Assigned };
    let text = written(form, kind, &grown.text);
    (text, Planted { kind: kind.name, place: place.to_owned(), form: "cut".into(), parts: grown.parts })
}

#[test]
fn nor_in_half_where_a_text_is_cut() {
    let world = World::new();
    world.configure(CONFIG);
    let mut all = Vec::new();
    let mut sinks = Vec::new();
    for (n, name) in CUT.into_iter().enumerate() {
        let mut rows = Rows::new(n);
        rows.user(json!("The list of orders breaks on the first page; please mend it."));
        for length in LENGTHS {
            for before in BEFORE {
                for spot in ["command", "argument", "line", "title", "to-do"] {
                    let (text, one) = grown(name, &format!("{spot} cut at {length}, {before} of it before"));
                    all.push(one);
                    let text = format!("{} {text} and more {}", filler(length.saturating_sub(before)), filler(40));
                    match spot {
                        "command" => rows.uses(1, &bash(&text)),
                        "argument" => rows.uses(2, &json!({"name": "mcp__tracker__add_comment", "input": {"text": text}})),
                        "line" => rows.result(1, &format!("Exit code 1\nerror: {text}"), true),
                        "title" => rows.row(json!({"type": "ai-title", "aiTitle": text})),
                        _ => rows
                            .uses(3, &json!({"name": "TodoWrite", "input": {"todos": [{"content": text, "status": "pending"}]}})),
                    }
                }
            }
        }
        rows.assistant("The list of orders is mended; all 14 tests pass.");
        put(&world, &rows.id, &rows.text);
    }
    let ran = world.recall(["digest", "--summarizer", "extract"]);
    assert!(ran.code < 2, "{ran:#?}");
    sinks.extend(kept(&world));
    sinks.extend(said("export", &world.recall(["export"])));
    tell(&all, &leaks(&all, &sinks));
}

#[test]
fn nor_where_the_middle_of_a_long_message_is_left_out() {
    let world = World::new();
    world.configure(CONFIG);
    let mut all = Vec::new();
    let mut rows = Rows::new(1);
    for name in LONG {
        for (spot, lead) in [("head", 9_580), ("head's end", 9_599), ("tail", 20_000)] {
            let (text, prompt) = grown(name, &format!("{spot} of a long prompt"));
            // The tail begins 6,400 characters before the end.
            let tail = if spot == "tail" { 6_400 - text.len() / 2 } else { 12_000 };
            rows.user(json!(format!("{} {text} {}", filler(lead), filler(tail))));
            let (text, reply) = grown(name, &format!("{spot} of a long reply"));
            rows.assistant(&format!("{} {text} {}", filler(lead), filler(tail)));
            let (text, plan) = grown(name, &format!("{spot} of a long plan"));
            rows.uses(1, &json!({"name": "ExitPlanMode", "input": {"plan": format!("{} {text} {}", filler(lead), filler(tail))}}));
            all.extend([prompt, reply, plan]);
        }
    }
    // A command of many lines is kept from both ends.
    for (n, name) in LONG.into_iter().enumerate() {
        for lead in [260, 290, 300] {
            let (text, one) = grown(name, &format!("long command, {lead}"));
            rows.uses(
                10 + n,
                &bash(&format!("{}\n{text}\n{}", filler(lead).replace(" of", "\nof"), filler(900).replace(" of", "\nof"))),
            );
            all.push(one);
        }
    }
    put(&world, &rows.id, &rows.text);
    let ran = world.recall(["digest", "--summarizer", "extract"]);
    assert!(ran.code < 2, "{ran:#?}");
    let mut sinks = kept(&world);
    sinks.extend(said("export", &world.recall(["export"])));
    tell(&all, &leaks(&all, &sinks));
}
