//! The two pieces under what is read straight from a transcript: its last whole lines, and rows put together to a session.

use std::fs;
use std::io;

use proptest::prelude::*;
use recall::testing::model::assemble::{EntryBuilder, session_from_records};
use recall::testing::model::session::{Entry, Item, Outcome, Record, RecordKey, Session, ToolUse};
use recall::testing::source::delta::{RawLine, last_lines};

/// All pieces of the last `most` bytes, each with where it begins and ends.
fn pieces(text: &[u8], most: u64) -> io::Result<Vec<(u64, u64, String)>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("t.jsonl");
    fs::write(&file, text)?;
    let mut lines = last_lines(&file, most)?;
    let mut all = Vec::new();
    while let Some((from, to, piece)) = lines.next_line()? {
        let (RawLine::Complete(bytes) | RawLine::Tail(bytes)) = piece else { panic!("no line is that long") };
        all.push((from, to, String::from_utf8_lossy(bytes).into_owned()));
    }
    Ok(all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_last_lines_are_those_that_begin_there(text in "[ab\n]{0,120}", most in 0u64..140) {
        let start = (text.len() as u64).saturating_sub(most);
        let mut expected = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let end = at + line.len() as u64;
            if at >= start {
                expected.push((at, end, line.trim_end_matches('\n').to_owned()));
            }
            at = end;
        }
        prop_assert_eq!(pieces(text.as_bytes(), most).unwrap(), expected);
    }
}

#[test]
fn lines_longer_than_what_is_looked_at_are_left_out() {
    let long = format!("{}\nlast\n", "x".repeat(1 << 20));
    assert_eq!(pieces(long.as_bytes(), 1000).unwrap(), [(1_048_577, 1_048_582, "last".to_owned())]);
    assert_eq!(pieces("x".repeat(5000).as_bytes(), 1000).unwrap(), []);
}

#[test]
fn what_is_no_file_has_no_lines() {
    let folder = tempfile::tempdir().unwrap();
    assert!(last_lines(folder.path(), 1000).is_err());
    assert!(last_lines(&folder.path().join("gone"), 1000).is_err_and(|e| e.kind() == io::ErrorKind::NotFound));
}

fn row(n: u8, item: Item) -> Record {
    Record {
        session: "s".into(),
        at: Some(i64::from(n) * 1000),
        cwd: Some("/shop/src".into()),
        branch: Some("main".into()),
        ..Record::of(RecordKey([n; 16]), item)
    }
}

fn tool(id: &str, line: &str) -> Item {
    Item::Tool(ToolUse::new(id, "Bash", line, None))
}

fn outcome(tool: &str, brief: &str) -> Item {
    Item::Outcome(Outcome { tool: tool.into(), ok: true, brief: brief.into() })
}

fn built(rows: Vec<Record>) -> Session {
    session_from_records("s", rows, |cwd| format!("project of {cwd}"))
}

/// The lines of the tool uses, each with what is said of how it ended.
fn ended(session: &Session) -> Vec<(String, Option<String>)> {
    let uses = session.entries.iter().filter_map(|e| match &e.item {
        Item::Tool(tool) => Some((tool.line.clone(), e.outcome.as_ref().map(|o| o.brief.clone()))),
        _ => None,
    });
    uses.collect()
}

fn pair(line: &str, brief: Option<&str>) -> (String, Option<String>) {
    (line.to_owned(), brief.map(str::to_owned))
}

#[test]
fn outcomes_go_to_the_uses_they_answer_whichever_comes_first() {
    let session = built(vec![
        row(1, Item::Prompt("test it".into())),
        row(2, tool("t1", "make")),
        row(3, tool("t2", "test")),
        row(4, outcome("t2", "10 passed")),
        row(5, outcome("t1", "built")),
        row(6, outcome("t3", "written before its use")),
        row(7, tool("t3", "push")),
        row(8, tool("t4", "never answered")),
        row(9, outcome("t9", "of a use that lies outside")),
    ]);
    let expected = [
        pair("make", Some("built")),
        pair("test", Some("10 passed")),
        pair("push", Some("written before its use")),
        pair("never answered", None),
    ];
    assert_eq!(ended(&session), expected);
    assert_eq!(session.entries.len(), 5, "an outcome is no entry of its own");
    assert_eq!((session.last_at(), session.began_at()), (Some(8000), Some(1000)));
}

#[test]
fn one_use_after_another_of_the_same_name_is_answered_in_turn() {
    // The oldest layout knows no ids: its rows name the command.
    let session = built(vec![
        row(1, tool("Bash: make", "make, once")),
        row(2, tool("Bash: make", "make, twice")),
        row(3, outcome("Bash: make", "failed")),
        row(4, outcome("Bash: make", "passed")),
    ]);
    assert_eq!(ended(&session), [pair("make, once", Some("failed")), pair("make, twice", Some("passed"))]);
}

#[test]
fn only_the_rows_of_the_session_itself_count_and_each_once() {
    let mut copy = row(1, Item::Prompt("said once".into()));
    copy.cwd = Some("/elsewhere".into());
    let mut other = row(2, Item::Reply("of another session".into()));
    other.session = "t".into();
    let mut part = row(3, Item::Reply("of a subagent".into()));
    part.agent = Some("inline".into());
    let mut last = row(4, Item::Reply("answered".into()));
    last.branch = Some("fix".into());
    let session = built(vec![row(1, Item::Prompt("said once".into())), copy, other, part, last]);
    let said: Vec<&Item> = session.entries.iter().map(|e| &e.item).collect();
    assert_eq!(said, [&Item::Prompt("said once".into()), &Item::Reply("answered".into())]);
    assert_eq!((session.cwd.as_deref(), session.project.key.as_str()), (Some("/shop/src"), "project of /shop/src"));
    assert_eq!(session.branches, ["main", "fix"]);
    assert!(built(Vec::new()).entries.is_empty() && built(Vec::new()).project.key.is_empty());
}

#[test]
fn a_use_without_an_id_waits_for_no_outcome() {
    let mut entries = EntryBuilder::default();
    for item in [tool("", "! ls"), outcome("", "listed"), tool("", "! pwd")] {
        entries.push(Entry { key: RecordKey([1; 16]), at: None, agent: None, item, outcome: None });
    }
    assert!(entries.finish().0.iter().all(|e| e.outcome.is_none()));
}
