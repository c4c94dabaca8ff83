//! What is told of pull requests: what became of them, and which session worked on one.

use serde_json::{Value, json};

use crate::support::World;
use crate::support::rows::{Rows, put};

/// Digests a session that ran these commands, each with what it printed.
fn session(world: &World, n: usize, calls: &[(&str, &str)]) -> String {
    let mut rows = Rows::new(n);
    rows.user(json!("See to the docs, please."));
    rows.runs(calls);
    rows.assistant("The docs are seen to.");
    put(world, &rows.id, &rows.text);
    world.digest(&["--summarizer", "extract"]);
    rows.id
}

const CREATED: (&str, &str) = ("gh pr create --title Docs --body x", "https://github.com/m/p/pull/12");

#[test]
fn one_that_was_closed_or_merged_is_told_so() {
    let closed = "✓ Closed pull request m/p#12 (Docs)";
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[], "(opened in this session) "),
        (&[("gh pr close 12", closed)], "(opened in this session; closed) "),
        (&[("gh pr close 12 2>&1 | tail -1", closed)], "(opened in this session; closed) "),
        (&[("gh pr close 12", "")], "(opened in this session; closed) "),
        (&[("gh pr close 12 || true", "")], "(opened in this session) "),
        (&[("gh pr close 13", "✓ Closed pull request m/p#13 (Other)")], "(opened in this session) "),
        (&[("gh pr view 12 --json state", r#"{"state":"CLOSED"}"#)], "(opened in this session; closed) "),
        (&[("gh pr close 12", closed), ("gh pr reopen 12", "✓ Reopened pull request m/p#12 (Docs)")], "(opened in this session) "),
        (
            &[("gh pr merge 12 --squash | cat", "✓ Squashed and merged pull request m/p#12 (Docs)")],
            "(opened in this session; merged) ",
        ),
    ];
    for (calls, state) in cases {
        let world = World::new();
        let id = session(&world, 0, &[&[CREATED], *calls].concat());
        let told = world.recall(["show", &id]).out;
        assert!(told.contains(&format!("- #12 Docs {state}https://")), "{calls:?}: {told}");
    }
}

#[test]
fn one_of_another_repository_with_its_number_is_another_one() {
    let world = World::new();
    let id = session(&world, 0, &[CREATED]);
    session(&world, 1, &[("gh pr merge 12 -R m/q", "✓ Squashed and merged pull request m/q#12 (Other)")]);
    let told = world.recall(["show", &id]).out;
    assert!(told.contains("- #12 Docs (opened in this session) https://"), "{told}");
}

#[test]
fn a_session_counts_for_one_only_if_it_did_something_about_it() {
    let open = r#"{"number":69,"title":"Docs","url":"https://github.com/m/p/pull/69","state":"OPEN"}"#;
    let pushed =
        [("git commit -am Docs", "[main 2222bbb] Docs\n 1 file changed"), ("git push", "   1111aaa..2222bbb  main -> main")];
    let view = ("gh pr view --json number,title,url,state", open);
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("gh pr view 69 --json number,title,url,state", open)], "(no pull request)"),
        (&[("gh pr diff 69", ""), ("gh pr checks 69", "")], "(no pull request)"),
        (&[view], "(no pull request)"),
        (&[pushed[0], pushed[1], view], "m/p #69"),
        (&[("gh pr comment 69 --body Fine", "https://github.com/m/p/pull/69#issuecomment-1")], "shop #69"),
        (&[("gh pr review 69 --approve", "✓ Approved pull request m/p#69")], "m/p #69"),
        (&[("gh pr close 69", "")], "shop #69"),
        (&[CREATED], "m/p #12"),
    ];
    for (calls, name) in cases {
        let world = World::new();
        session(&world, 0, calls);
        let told = world.recall(["stats", "--by", "pr", "--json"]).out;
        let stats: Value = serde_json::from_str(&told).expect("JSON");
        assert_eq!(stats["rows"][0]["name"], *name, "{calls:?}: {told}");
    }
}
