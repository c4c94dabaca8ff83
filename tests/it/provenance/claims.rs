//! Statements of a model and what is told for them: the session's own words, and never the model's.

use serde_json::{Value, json};

use crate::provenance::{digests, texts};
use crate::support::World;
use crate::support::rows::{Rows, SHOP, bash, put};

/// Rows as the model sees them: 1 the user asks, 2 tests fail, 3 the assistant proposes, 4 the user agrees, 5 a commit, 6 tests pass, 7 a
/// lint fails, 8 the assistant says how it ended.
fn session() -> Rows {
    let mut rows = Rows::new(0);
    rows.user("The export in harbour/export.py loses the last row of every file. Find out why before you change anything.".into());
    rows.uses(1, &bash("pytest tests/test_export.py"));
    rows.result(1, "Exit code 1\nFAILED tests/test_export.py::test_last_row - assert 41 == 42\n1 failed, 6 passed in 0.41s", true);
    rows.assistant(
        "`write_rows` stops at the first empty line, so row 42 is never written. I propose to iterate with `read_chunk` and to leave \
         `write_header` as it is. Shall I do that?",
    );
    rows.user("Yes, do that, but never touch the importer.".into());
    rows.uses(2, &bash("git commit -qam 'Write the last row of an export'"));
    rows.result(2, "[tide 4fa61c2] Write the last row of an export\n 2 files changed, 18 insertions(+), 5 deletions(-)", false);
    rows.uses(3, &bash("pytest tests/test_export.py"));
    rows.result(3, "7 passed in 0.39s", false);
    rows.uses(4, &bash("ruff check harbour"));
    rows.result(4, "Exit code 1\nharbour/export.py:12:1: F401 `csv` imported but unused\nFound 1 error.", true);
    rows.assistant(
        "Done: `write_rows` iterates with `read_chunk` now, committed as 4fa61c2 on the branch tide. The seven tests pass. `ruff check` \
         still complains about an unused import. The importer was not touched.",
    );
    rows
}

/// Section, statement, cited rows.
type Statement = (&'static str, &'static str, &'static [usize]);

const TRUE: [Statement; 11] = [
    ("learned", "`write_rows` stopped at the first empty line, so row 42 was never written", &[3]),
    ("completed", "`write_rows` iterates with `read_chunk`; committed as 4fa61c2 on branch tide", &[5, 8]),
    ("completed", "pytest tests/test_export.py: 7 passed", &[6]),
    ("completed", "All seven tests pass", &[]),
    ("decisions", "The user agreed to iterate with `read_chunk` and to leave `write_header` as it is", &[4]),
    ("decisions", "User: never touch the importer", &[4]),
    ("decisions", "Find out why before changing anything", &[1]),
    ("blockers", "`ruff check harbour` fails: it found an error", &[7]),
    ("next_steps", "Remove the unused import that `ruff check` complains about", &[8]),
    ("learned", "The importer was not touched", &[8]),
    ("completed", "2 files changed, 18 insertions, 5 deletions", &[5]),
];

const FALSE: [(&str, Statement); 19] = [
    ("name", ("completed", "`write_rows` iterates with `next_window` now", &[8])),
    ("name", ("learned", "The loss was found with the help of Grafana", &[3])),
    ("name", ("completed", "`write_all_rows` iterates with `read_chunk` now", &[8])),
    ("number", ("completed", "pytest tests/test_export.py: 19 passed", &[6])),
    ("number", ("completed", "2 files changed, 81 insertions", &[5])),
    ("number", ("learned", "Row 43 is never written", &[3])),
    ("hash", ("completed", "The last row is written; committed as 9bd07e1", &[5])),
    ("hash", ("completed", "The last row is written; opened as pull request #12", &[5])),
    ("file", ("completed", "The loop was changed in harbour/stream/reader.py", &[8])),
    ("file", ("learned", "`write_rows` in harbour/rows.py stops at the first empty line", &[3])),
    ("command", ("completed", "Ran `mypy harbour` after the change", &[7])),
    ("command", ("completed", "The tests were run with `pytest -x --cov`", &[6])),
    ("passed", ("completed", "The lint is clean: ruff passes", &[7])),
    ("passed", ("completed", "`ruff check` found no issues", &[8])),
    ("speaker", ("decisions", "User: iterate with `read_chunk` and leave `write_header` as it is", &[3])),
    ("speaker", ("decisions", "The user decided to remove the unused import", &[8])),
    ("speaker", ("decisions", "User: stop at the first empty line", &[3])),
    ("page", ("decisions", "The user wants `csv` to be imported", &[7])),
    ("page", ("decisions", "Unused imports have to be removed", &[7])),
];

/// What is made of a session when a model says all these statements of it.
fn digest(rows: &Rows, statements: &[Statement]) -> Value {
    let mut form =
        json!({"title": "The last row of an export", "request": "Find out why the export loses the last row", "closes": []});
    for (section, text, rows) in statements {
        if form[section].is_null() {
            form[section] = json!([]);
        }
        form[section].as_array_mut().expect("a list").push(json!({"text": text, "rows": rows}));
    }
    if form["learned"].is_null() {
        // A reply that says nothing of what was done is none.
        form["learned"] = json!(["Zephyrs quack"]);
    }
    let report = json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "result": form.to_string(),
        "total_cost_usd": 0.001, "modelUsage": {"claude-haiku-4-5-20251001": {"inputTokens": 4, "outputTokens": 10, "costUSD": 0.001}}});
    let world = World::new();
    put(&world, &rows.id, &rows.text);
    let answer = world.root().join("answer");
    std::fs::write(&answer, report.to_string()).expect("the answer");
    world.fake_claude(&format!("#!/bin/sh\ncat > /dev/null\ncat '{}'\n", answer.display()));
    world.digest(&["--summarizer", "claude"]);
    digests(&world).remove(0).1
}

/// All words of a session, in lower case.
fn words_of(rows: &Rows) -> String {
    fn strings(value: &Value, all: &mut String) {
        match value {
            Value::String(text) => all.push_str(&format!("{text}\n")),
            Value::Array(list) => list.iter().for_each(|one| strings(one, all)),
            Value::Object(fields) => fields.values().for_each(|one| strings(one, all)),
            _ => {}
        }
    }
    let mut all = String::new();
    rows.text.lines().for_each(|line| strings(&serde_json::from_str(line).expect("a row"), &mut all));
    all.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The parts of what is told that have to stand in the session: what is in quotation marks, or a command, a path and what was printed.
fn parts(told: &str) -> Vec<String> {
    let parts: Vec<&str> = match told.split_once('`') {
        Some((before, rest)) if !told.contains('“') => {
            let (code, after) = rest.split_once('`').expect("a closing mark");
            assert!(["", "Edited ", "The user refused "].contains(&before), "{told}");
            [code]
                .into_iter()
                .chain(after.trim_start_matches([':', '.', ' ']).trim_start_matches("failed").split([':', '|']))
                .collect()
        }
        _ => {
            let quoted = told.split('“').skip(1).map(|part| part.split('”').next().expect("a part"));
            quoted.flat_map(|part| part.split(" … ")).collect()
        }
    };
    assert!(!parts.is_empty(), "nothing is quoted: {told}");
    parts.into_iter().map(|part| part.trim_end_matches('…').trim().to_lowercase()).collect()
}

/// Whatever a model says of a session, true or not: what is told of it was said or done there, word for word, and something is told for
/// what is true.
fn only_what_was_said_is_told(rows: &Rows, truths: &[Statement], lies: &[(&str, Statement)]) {
    let all: Vec<Statement> = truths.iter().chain(lies.iter().map(|(_, statement)| statement)).copied().collect();
    let session = words_of(rows);
    // Each by itself: what has the same words behind it is told once.
    let told = |statement: &Statement| texts(&digest(rows, std::slice::from_ref(statement)), statement.0);
    for statement in &all {
        for text in told(statement) {
            let missing: Vec<String> = parts(&text).into_iter().filter(|part| !session.contains(part.as_str())).collect();
            assert!(missing.is_empty(), "{statement:?} is told as {text}, but nobody said {missing:?}");
        }
    }
    let lost: Vec<_> = truths.iter().filter(|statement| told(statement).is_empty()).collect();
    assert!(lost.is_empty(), "true, and nothing is told for it: {lost:#?}");
    let together = digest(rows, &all);
    let claimed = |list: &str| together[list].as_array().map_or(0, Vec::len);
    assert!(claimed("completed") > 1, "{together:#}");
}

#[test]
fn what_is_told_was_said_whatever_a_model_makes_of_it() {
    only_what_was_said_is_told(&session(), &TRUE, &FALSE);
}

fn edits(path: &str) -> Value {
    json!({"name": "Edit", "input": {"file_path": format!("{SHOP}/{path}"), "old_string": "a", "new_string": "b"}})
}

fn reads(path: &str) -> Value {
    json!({"name": "Read", "input": {"file_path": format!("{SHOP}/{path}")}})
}

/// Rows as the model sees them: 1 the user asks, 2 an edit, 3 the user refuses a command and 4 says why, 5 a test and 6 a lint
/// fail, 7 the tests pass, 8 a commit, 9 the assistant says how it ended. A log and a file that was only read come before the edit.
fn longer_session() -> Rows {
    let mut rows = Rows::new(1);
    rows.user("The tide feed hangs when the harbour office is offline. Give it a timeout, and leave the push to me.".into());
    rows.uses(1, &bash("git log --oneline -3"));
    rows.result(1, "3b7d9e2 Read the feed in one go\n81c04af Add the office's address\n0aa51d7 First version", false);
    rows.uses(2, &reads("feed/schedule.py"));
    rows.result(2, "EVERY = 900", false);
    rows.uses(3, &edits("feed/pull.py"));
    rows.result(3, "The file was updated.", false);
    rows.uses(4, &bash("pip install requests-mock"));
    rows.result(4, REFUSED, true);
    rows.user("No new packages. Use what the tests have already.".into());
    rows.uses(7, &bash("pytest -q tests/feed"));
    rows.result(7, "Exit code 1\nFAILED tests/feed/test_pull.py::test_timeout\n1 failed, 13 passed in 2.40s", true);
    rows.uses(8, &bash("ruff check feed"));
    rows.result(8, "Exit code 1\nfeed/pull.py:3:1: F401 `csv` imported but unused\nFound 1 error.", true);
    rows.uses(5, &bash("pytest -q tests/feed"));
    rows.result(5, "14 passed in 2.31s", false);
    rows.uses(6, &bash("git commit -qam 'Give the tide feed a timeout' && git log -1 --stat"));
    rows.result(6, "[main 5e1fa90] Give the tide feed a timeout\n 2 files changed, 31 insertions(+), 4 deletions(-)", false);
    rows.assistant(
        "`fetch_tides` passes `timeout=20` to the request now, and returns the last table when the office does not answer. Committed as \
         5e1fa90 on top of 3b7d9e2. The push is yours: `git push origin main`.",
    );
    rows
}

const REFUSED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the \
                       new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";

const LONGER_TRUE: [Statement; 8] = [
    ("completed", "The timeout was committed as `5e1fa90`", &[8]),
    ("completed", "The timeout was added to `feed/pull.py`", &[2]),
    ("completed", "The change has 31 insertions in 2 files", &[8]),
    ("completed", "`fetch_tides` passes a timeout of 20 to the request now", &[9]),
    ("completed", "The feed was tested with `pytest -q tests/feed`: 14 passed", &[7]),
    ("next_steps", "Push the commit with `git push origin main`", &[9]),
    ("decisions", "The user refused `pip install requests-mock`: no new packages", &[3]),
    ("blockers", "`ruff check feed` still reports an unused import", &[6]),
];

const LONGER_FALSE: [(&str, Statement); 12] = [
    ("hash", ("completed", "The timeout was committed as `3b7d9e2`", &[8])),
    ("hash", ("completed", "The timeout of the tide feed was committed as `81c04af`", &[])),
    ("number", ("completed", "The commit of the timeout brought 14 insertions", &[8])),
    ("name", ("completed", "`read_schedule` passes `timeout=20` to the request now", &[9])),
    ("file", ("completed", "The timeout was added to `feed/schedule.py`", &[2])),
    ("file", ("completed", "`feed/schedule.py` was shortened, so that the feed does not hang", &[2])),
    ("command", ("completed", "The mock was set up with `pip install requests-mock`", &[3])),
    ("command", ("completed", "The commit was published with `git push origin main`", &[9])),
    ("passed", ("completed", "The feed was tried at the office when it was offline", &[9])),
    ("passed", ("completed", "The checks of the pipeline passed with the commit of the timeout", &[8])),
    ("overtaken", ("blockers", "A test of the feed still fails", &[5])),
    ("overtaken", ("blockers", "`pytest -q tests/feed` fails: the timeout is not passed on", &[5])),
];

#[test]
fn what_is_told_was_done_whatever_a_model_makes_of_it() {
    only_what_was_said_is_told(&longer_session(), &LONGER_TRUE, &LONGER_FALSE);
}

/// What is told for a statement, as a reader sees it.
/// What was committed afterwards waits for no commit, and what was left before a later commit may still be left.
#[test]
fn what_was_committed_later_is_not_left_to_commit() {
    let mut rows = session();
    rows.assistant("The manual is still unstaged: want me to commit it? The blocker is the missing key of the signer.");
    let waiting = ("next_steps", "The manual is unstaged and has to be committed", &[9][..]);
    let blocked = ("blockers", "The key of the signer is missing", &[9][..]);
    let told = |rows: &Rows, statement: Statement| texts(&digest(rows, &[statement]), statement.0);
    assert!(told(&rows, waiting)[0].contains("The manual is still unstaged"));
    rows.user("Yes, do that now.".into());
    rows.uses(5, &bash("git commit -qam 'Extend the manual'"));
    rows.result(5, "[tide 5fa61c2] Extend the manual\n 1 file changed, 8 insertions(+)", false);
    rows.assistant("It is in 5fa61c2.");
    assert!(told(&rows, waiting).iter().all(|text| !text.contains("unstaged")), "{:?}", told(&rows, waiting));
    assert!(told(&rows, blocked)[0].contains("missing key"), "{:?}", told(&rows, blocked));
}

#[test]
fn what_a_statement_is_told_as() {
    let checks: [(Statement, &str); 9] = [
        (
            ("decisions", "The user agreed to iterate with `read_chunk`", &[4]),
            "User: “Yes, do that, but never touch the importer.” (Claude had said: “I propose to iterate with `read_chunk` and to leave `write_header` as it is.”)",
        ),
        (("decisions", "The importer may be touched", &[4]), "User: “Yes, do that, but never touch the importer.”"),
        (
            ("learned", "Row 43 is never written, since `write_rows` stops early", &[3]),
            "Claude: “`write_rows` stops at the first empty line, so row 42 is never written.”",
        ),
        (
            ("completed", "Committed as 9bd07e1 on the branch ebb", &[8]),
            "Claude: “Done: `write_rows` iterates with `read_chunk` now, committed as 4fa61c2 on the branch tide.”",
        ),
        (("completed", "Nobody ran a linter", &[7]), "`ruff check harbour` failed: exit code 1 | Found 1 error."),
        (("blockers", "The lint is clean: ruff passes", &[8]), "Claude: “`ruff check` still complains about an unused import.”"),
        (("investigated", "Whether the moon is full", &[]), ""),
        (("decisions", "The user decided to remove the unused import", &[8]), ""),
        (
            ("next_steps", "Unused imports have to be removed", &[7]),
            "Claude: “`ruff check` still complains about an unused import.”",
        ),
    ];
    for (statement, told) in checks {
        let all = texts(&digest(&session(), &[statement]), statement.0);
        assert_eq!(all.first().map_or("", String::as_str), told, "{statement:?}");
    }
}
