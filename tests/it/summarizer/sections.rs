//! Each section of a model's digest reaches every reader of digests: what is written into one is told, found, exported and forgotten.

use serde_json::{Value, json};

use crate::support::stand_in::{COST, StandIn, report};
use crate::support::{assistant, user};

const SESSION: &str = "5ec71045-1111-4111-8111-000000000001";

/// A section's key, with the label that a start and a brief, the page of the session, and the page of the day put over it.
type Labels = (&'static str, Option<&'static str>, Option<&'static str>, Option<&'static str>);

const SECTIONS: [Labels; 10] = [
    ("investigated", None, Some("Looked into"), None),
    ("learned", Some("Learned"), Some("Learned"), None),
    ("completed", Some("Outcome"), Some("Done"), Some("Outcome")),
    ("decisions", Some("Decided"), Some("Decisions"), Some("Decisions")),
    ("standing_instructions", None, Some("Standing instructions"), None),
    ("files", None, None, None),
    ("blockers", Some("Open"), Some("Blockers"), Some("Blockers")),
    ("next_steps", Some("Open"), Some("Next"), Some("Next")),
    ("questions", None, None, None),
    ("other_words", None, None, None),
];

/// A word that stands in this section alone.
fn mark(key: &str) -> String {
    format!("quell{}", key.replace('_', ""))
}

fn statement(key: &str) -> String {
    match key {
        "files" => format!("src/{}.rs", mark(key)),
        _ => format!("The {} lies behind the harbour wall", mark(key)),
    }
}

/// A session in which all is said that the model will say of it.
fn told() -> StandIn {
    let all: String = SECTIONS.iter().map(|(key, ..)| format!("{}. ", statement(key))).collect();
    let mut form = json!({"title": "Where things lie", "request": "Note where things lie", "closes": []});
    for (key, ..) in SECTIONS {
        form[key] = json!([{"text": statement(key), "rows": [1, 2]}]);
    }
    let stand_in = StandIn::says(&[], &report(&form, COST));
    let rows = user(SESSION, "u1", "2026-11-20T10:00:00Z", &format!("Write down where things lie. {all}"))
        + &assistant(SESSION, "a1", "2026-11-20T10:00:05Z", &format!("I wrote it down. {all}"));
    stand_in.world.transcript(&format!("-home-dev-shop/{SESSION}.jsonl"), rows);
    stand_in.recall(&["digest", "--summarizer", "claude"]);
    stand_in.only_call();
    stand_in
}

/// The lines of the list under a label.
fn under(text: &str, label: &str) -> String {
    let is_label = |line: &&str| line.trim_matches(['#', '*', ' ', ':']).trim_end_matches(", chosen by a model") == label;
    let list = text.lines().skip_while(|line| !is_label(line)).skip(1).skip_while(|line| line.is_empty());
    list.take_while(|line| line.starts_with("- ")).collect()
}

#[test]
fn the_model_is_asked_for_each_section_and_each_is_stored() {
    let stand_in = told();
    let call = stand_in.only_call();
    let asked = call.value("--system-prompt").expect("instructions");
    let digest = &stand_in.show(SESSION)["digest"];
    for (key, ..) in SECTIONS {
        assert!(asked.contains(&format!("\"{key}\": [")), "{key}: {asked}");
        assert!(digest[key].to_string().contains(&statement(key)), "{key}: {digest:#}");
    }
    let known: Vec<&String> = digest.as_object().expect("an object").keys().collect();
    assert_eq!(known.len(), SECTIONS.len() + 3, "a section that this test does not know: {known:?}");
}

#[test]
fn pages_briefs_and_starts_tell_each_section_under_its_label() {
    let stand_in = told();
    let page = stand_in.page(SESSION);
    let pages = stand_in.world.pages();
    let (_, day) = pages.iter().find(|(name, _)| !name.contains("/sessions/")).expect("the day's page");
    let brief = stand_in.recall(&["show", SESSION]).out;
    let start = stand_in.recall(&["context", "--cwd", "/home/dev/src/shop"]).out;
    for (key, talk, on_page, on_day) in SECTIONS {
        let places = [(&brief, talk), (&start, talk), (&page, on_page), (day, on_day)];
        for (text, label) in places {
            if let Some(label) = label {
                assert!(under(text, label).contains(&mark(key)), "{key} under {label}: {text}");
            }
        }
    }
}

#[test]
fn each_section_goes_out_with_an_export_and_comes_back() {
    let stand_in = told();
    let file = stand_in.here().join("out.jsonl");
    std::fs::write(&file, stand_in.recall(&["export"]).out).expect("the export");
    let other = StandIn::new(&[], "exit 1");
    let ran = other.recall(&["import", file.to_str().expect("a UTF-8 path")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(other.show(SESSION)["digest"], stand_in.show(SESSION)["digest"]);
}

#[test]
fn what_a_section_says_is_forgotten_by_its_words() {
    for (key, ..) in SECTIONS {
        let stand_in = told();
        let ran = stand_in.recall(&["forget", "--yes", "--match", &mark(key)]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        let left: String = stand_in.world.exported().iter().map(Value::to_string).collect();
        assert!(!left.contains(&mark(key)), "{key}: {left}");
    }
}
