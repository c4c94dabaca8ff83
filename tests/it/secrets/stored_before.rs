//! What was stored before there were rules, or comes from elsewhere, holds no secret after the next digest either.

use std::fs;

use serde_json::json;

use crate::secrets::forms::{Form, written};
use crate::secrets::kinds::{KINDS, Shape};
use crate::secrets::outputs::{kept, leaks, said};
use crate::secrets::places::Planted;
use crate::secrets::table::{CONFIG, tell};
use crate::support::chunks::texts;
use crate::support::rows::{Rows, SHOP, bash, put};
use crate::support::stand_in::{StandIn, form, report};
use crate::support::{World, files_below};

const OF: [&str; 6] = ["github personal", "aws secret access key", "postgres url", "NAME=password", "jwt", "bearer header"];
const SPOTS: [&str; 13] = [
    "prompt", "reply", "command", "output", "to-do", "title", "recap", "away", "plan", "learned", "completed", "next step",
    "question",
];

/// A word that stands where the secret will be.
struct Mark {
    word: String,
    secret: String,
    planted: Planted,
}

fn marks() -> Vec<Mark> {
    let mark = |(kind_at, name): (usize, &&str), (spot_at, spot): (usize, &&str)| {
        let kind = KINDS.iter().find(|one| one.name == *name).expect("a kind");
        let grown = kind.grown(&format!("old {spot}"));
        let form = if kind.shape == Shape::Text { Form::Start } else { Form::Assigned };
        let planted = Planted { kind: kind.name, place: format!("old {spot}"), form: String::new(), parts: grown.parts };
        Mark { word: format!("Marked{kind_at}x{spot_at:02}y"), secret: written(form, kind, &grown.text), planted }
    };
    OF.iter().enumerate().flat_map(|kind| SPOTS.iter().enumerate().map(move |spot| mark(kind, spot))).collect()
}

/// A world with the words in all spots, digested by the model, whose answer holds some of them.
fn marked(marks: &[Mark]) -> StandIn {
    let client = StandIn::new(&[], "cat \"$here/answer-$n\"");
    client.world.configure(CONFIG);
    for (n, marks) in marks.chunks(SPOTS.len()).enumerate() {
        let [prompt, reply, command, output, todo, title, recap, away, plan, learned, completed, next, question] = marks else {
            panic!("a mark for every spot")
        };
        let mut rows = Rows::new(n);
        rows.user(json!(format!("The list of orders breaks on the first page; please mend it. {}", prompt.word)));
        rows.uses(1, &bash(&format!("./run.sh {} --now", command.word)));
        rows.result(1, &format!("Exit code 1\nerror: it failed with {}", output.word), true);
        rows.uses(
            2,
            &json!({"name": "TodoWrite", "input": {"todos": [{"content": format!("Mend {}", todo.word), "status": "pending"}]}}),
        );
        rows.uses(3, &json!({"name": "ExitPlanMode", "input": {"plan": format!("1. Mend {}\n2. Look.", plan.word)}}));
        rows.row(json!({"type": "ai-title", "aiTitle": format!("Mend {}", title.word)}));
        rows.row(json!({"type": "system", "subtype": "away_summary", "content": format!("It waits for {}.", away.word)}));
        let summary = format!("This session is being continued from a previous conversation.\n\nSummary:\nIt was {}.", recap.word);
        rows.row(json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content": summary}}));
        rows.assistant(&format!("The list of orders is mended; all 14 tests pass. {}", reply.word));
        put(&client.world, &rows.id, &rows.text);
        let mut form = form();
        form["learned"] = json!([format!("It takes {}", learned.word)]);
        form["completed"] = json!([format!("It was mended with {}", completed.word)]);
        form["next_steps"] = json!([{"text": format!("Take out {}", next.word), "rows": [1]}]);
        form["questions"] = json!([format!("What is {}?", question.word)]);
        client.put(&format!("answer-{}", n + 1), &report(&form, 0.01));
    }
    let ran = client.world.recall(["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let stored = client.world.recall(["export"]).out;
    let missing: Vec<_> = marks.iter().filter(|mark| !stored.contains(&mark.word)).map(|mark| &mark.planted.place).collect();
    assert!(missing.is_empty(), "not stored: {missing:?}");
    client
}

fn within_json(text: &str) -> String {
    let quoted = serde_json::to_string(text).expect("JSON");
    quoted[1..quoted.len() - 1].to_owned()
}

fn listen(world: &World, marks: &[Mark], mut sinks: Vec<crate::support::data_folder::Held>) {
    for args in [&["export"][..], &["status", "--json"], &["context", "--cwd", SHOP], &["search", "orders"]] {
        sinks.extend(said(args[0], &world.recall(args)));
    }
    sinks.extend(kept(world));
    let all: Vec<Planted> = marks.iter().map(|mark| mark.planted.clone()).collect();
    tell(&all, &leaks(&all, &sinks));
}

#[test]
fn what_is_imported_is_redacted() {
    let marks = marks();
    let exported = marked(&marks).world.recall(["export"]).out;
    let exported = marks.iter().fold(exported, |text, mark| text.replace(&mark.word, &within_json(&mark.secret)));
    let world = World::new();
    world.configure(CONFIG);
    fs::write(world.root().join("exported"), exported).expect("the exported file");
    let imported = world.recall(["import", "exported"]);
    assert_eq!(imported.code, 0, "{imported:#?}");
    assert!(world.recall(["export"]).out.contains("The list of orders breaks on the first page"), "it is imported");
    let ran = world.recall(["digest", "--summarizer", "extract"]);
    assert!(ran.code < 2, "{ran:#?}");
    fs::remove_file(world.root().join("exported")).expect("the exported file");
    listen(&world, &marks, [said("import", &imported), said("digest", &ran)].concat());
}

#[test]
fn an_index_of_an_older_version_is_cleaned_by_the_next_digest() {
    let marks = marks();
    let client = marked(&marks);
    let world = &client.world;
    poison(world, &marks);
    world.make_index_older();
    let before = client.calls().len();
    for n in 1..=OF.len() {
        client.put(&format!("answer-{}", before + n), &report(&form(), 0.01));
    }
    let ran = world.recall(["digest"]);
    assert!(ran.code < 2, "{ran:#?}");
    let given: Vec<_> = crate::secrets::outputs::given(&client.calls().split_off(before));
    listen(world, &marks, [said("digest", &ran).to_vec(), given].concat());
}

/// Puts the secrets where the words are, as a version without rules would have stored them, and into the pages. What the index of words
/// knows of is left: nobody but `recall` can change both as one.
fn poison(world: &World, marks: &[Mark]) {
    let database = rusqlite::Connection::open(world.data_dir().join("recall.db")).expect("the database");
    for column in ["said", "done"] {
        let mut rows = database.prepare(&format!("SELECT pk, {column} FROM bundle WHERE {column} <> x''")).expect("the bodies");
        let all = rows.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))).expect("rows");
        for (pk, body) in all.map(|row| row.expect("a row")) {
            let secret = |item: serde_json::Value| match item["kind"] == "prompt" {
                true => item.to_string(),
                false => marks.iter().fold(item.to_string(), |text, mark| text.replace(&mark.word, &within_json(&mark.secret))),
            };
            let items: Vec<String> = texts(&body).into_iter().map(secret).collect();
            let body = [&[0], format!("[{}]", items.join(",")).as_bytes()].concat();
            database
                .execute(&format!("UPDATE bundle SET {column} = ?2 WHERE pk = ?1"), rusqlite::params![pk, body])
                .expect("the body");
        }
    }
    for mark in marks {
        database.execute("UPDATE open_item SET text = replace(text, ?1, ?2)", [&mark.word, &mark.secret]).expect("an open item");
    }
    for page in files_below(&world.daily()) {
        let text = fs::read_to_string(&page).expect("a page");
        let secret = marks.iter().fold(text, |text, mark| text.replace(&mark.word, &mark.secret));
        fs::write(&page, secret).expect("a page");
    }
}
