//! Statements of a model held against the session: of each kind of falsehood that can be found without judging, none is told; what is true
//! is.

use serde_json::{Value, json};

use crate::provenance::{digests, texts};
use crate::support::World;
use crate::support::rows::{Rows, bash, put};

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

const TRUE: [Statement; 12] = [
    ("learned", "`write_rows` stopped at the first empty line, so row 42 was never written", &[3]),
    ("investigated", "Why harbour/export.py loses the last row", &[1]),
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

fn digest() -> Value {
    let mut form =
        json!({"title": "The last row of an export", "request": "Find out why the export loses the last row", "closes": []});
    for (section, text, rows) in TRUE.iter().chain(FALSE.iter().map(|(_, statement)| statement)) {
        if form[section].is_null() {
            form[section] = json!([]);
        }
        form[section].as_array_mut().expect("a list").push(json!({"text": text, "rows": rows}));
    }
    let report = json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "result": form.to_string(),
        "total_cost_usd": 0.001, "modelUsage": {"claude-haiku-4-5-20251001": {"inputTokens": 4, "outputTokens": 10, "costUSD": 0.001}}});
    let world = World::new();
    let rows = session();
    put(&world, &rows.id, &rows.text);
    let answer = world.root().join("answer");
    std::fs::write(&answer, report.to_string()).expect("the answer");
    world.fake_claude(&format!("#!/bin/sh\ncat > /dev/null\ncat '{}'\n", answer.display()));
    world.digest(&["--summarizer", "claude"]);
    digests(&world).remove(0).1
}

#[test]
fn what_the_session_does_not_say_is_not_told_and_what_it_says_is() {
    let digest = digest();
    let is_told = |(section, text, _): &Statement| texts(&digest, section).iter().any(|told| told == text);
    let left: Vec<_> = FALSE.iter().filter(|(_, statement)| is_told(statement)).collect();
    let lost: Vec<_> = TRUE.iter().filter(|statement| !is_told(statement)).collect();
    assert!(left.is_empty() && lost.is_empty(), "told though false: {left:#?}\nnot told though true: {lost:#?}");
    // Nothing is thrown away.
    let all = digest.to_string();
    assert!(FALSE.iter().all(|(_, (_, text, _))| all.contains(&text.replace('"', "\\\""))), "{all}");
}
