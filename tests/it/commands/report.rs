//! `recall report`: what was done since a day, as text to paste, from what is stored.

use serde_json::{Value, json};

use crate::support::World;
use crate::support::rows::{Rows, SHOP, bash, put};

fn world() -> World {
    let world = World::new();
    work(&world);
    world
}

/// Two sessions on a branch, a day apart, and one on another in between, digested without a model.
pub fn work(world: &World) {
    let mut first = Rows::new(0);
    on_branch(&mut first, "paging", |rows| {
        rows.user(json!("Page the order list by key, the offset gets slow."));
        rows.uses(1, &json!({"name": "AskUserQuestion", "input": {"questions": [{"question": "Which key should it use?",
            "header": "Key", "multiSelect": false, "options": [{"label": "id", "description": "alone"}, {"label": "both", "description": "created_at and id"}]}]}}));
        rows.row(json!({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1",
            "content": "User has answered your questions: \"Which key should it use?\"=\"both\". You can now continue."}]},
            "toolUseResult": {"questions": [{"question": "Which key should it use?"}], "answers": {"Which key should it use?": "both"}}}));
        edit(rows, 2, "src/orders.py");
        rows.uses(3, &bash("pytest -q"));
        rows.result(3, "3 passed in 0.2s", false);
        rows.uses(4, &bash("git commit -qam 'feat: page orders by key'"));
        rows.result(4, "[paging 1a2b3c4] feat: page orders by key\n 1 file changed, 9 insertions(+)", false);
        rows.uses(5, &bash("git commit -qam 'Try a cache of pages'"));
        rows.result(5, "[paging 2b3c4d5] Try a cache of pages\n 1 file changed, 9 insertions(+)", false);
        rows.assistant("The order list is paged by key now, and the tests pass.");
    });
    put(world, &first.id, &first.text);
    let mut other = Rows::new(1);
    on_branch(&mut other, "invoices", |rows| {
        rows.user(json!("Count the invoices of a month."));
        edit(rows, 1, "src/invoices.py");
        rows.uses(2, &bash("git commit -qam 'Count invoices'"));
        rows.result(2, "[invoices 3c4d5e6] Count invoices\n 1 file changed, 2 insertions(+)", false);
        rows.assistant("The invoices of a month are counted.");
    });
    put(world, &other.id, &other.text);
    let mut second = Rows::new(3);
    on_branch(&mut second, "paging", |rows| {
        rows.user(json!("Take the cache out again, and fix the first page."));
        rows.uses(1, &bash("git revert --no-edit 2b3c4d5"));
        rows.result(1, "[paging 4d5e6f7] Revert \"Try a cache of pages\"\n 1 file changed, 9 deletions(-)", false);
        edit(rows, 2, "src/orders.py");
        rows.uses(3, &bash("git commit -qam 'fix(orders): show the first page'"));
        rows.result(3, "[paging 5e6f7a8] fix(orders): show the first page\n 1 file changed, 1 insertion(+)", false);
        rows.uses(4, &bash("ruff check ."));
        rows.result(4, "src/orders.py:3:1: F401 `os` imported but unused\nFound 1 error.", true);
        rows.blocks(json!([{"type": "tool_use", "id": "toolu_6", "name": "TodoWrite",
            "input": {"todos": [{"content": "Measure the slow query", "status": "pending", "activeForm": "Measuring"}]}}]));
        rows.result(6, "Todos have been modified successfully", false);
        rows.assistant("The cache is out, the first page is right, and one import is left to take out.");
    });
    put(world, &second.id, &second.text);
    world.digest(&["--summarizer", "extract"]);
}

fn on_branch(rows: &mut Rows, branch: &str, write: impl FnOnce(&mut Rows)) {
    let before = rows.text.len();
    write(rows);
    let written = rows.text.split_off(before);
    rows.text += &written.replace("\"gitBranch\":\"main\"", &format!("\"gitBranch\":\"{branch}\""));
}

fn edit(rows: &mut Rows, tool: usize, file: &str) {
    rows.uses(
        tool,
        &json!({"name": "Edit", "input": {"file_path": format!("{SHOP}/{file}"), "old_string": "a", "new_string": "b"}}),
    );
    rows.result(tool, "The file has been updated.", false);
}

fn report(world: &World, args: &[&str]) -> String {
    let ran = world.recall([&["report"], args].concat());
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.out
}

#[test]
fn a_standup_tells_by_project_what_was_done_and_what_is_open() {
    let world = world();
    insta::assert_snapshot!(report(&world, &["--since", "2026-11-01"]));
}

#[test]
fn a_week_has_figures_and_checks_as_well() {
    let world = world();
    insta::assert_snapshot!(report(&world, &["--for", "week", "--since", "2026-11-01"]));
}

#[test]
fn a_pull_request_is_told_by_its_branch_alone() {
    let world = world();
    let text = report(&world, &["--for", "pr", "--branch", "paging", "--project", "shop"]);
    insta::assert_snapshot!(text);
    assert!(!text.contains("nvoice"), "{text}");
}

/// What was asked before a commit was asked for its branch; a prompt of three words says nothing of what is wanted.
#[test]
fn of_a_session_on_two_branches_a_pull_request_quotes_what_was_asked_for_its_own() {
    let world = World::new();
    let mut rows = Rows::new(0);
    on_branch(&mut rows, "keys", |rows| {
        rows.user(json!("Page the order list by key, the offset gets slow."));
        edit(rows, 7, "src/orders.py");
        rows.uses(8, &bash("pytest tests/orders.py"));
        rows.result(8, "3 passed in 0.2s", false);
        rows.uses(1, &bash("git commit -qam 'Page orders by key'"));
        rows.result(1, "[paging 1a2b3c4] Page orders by key\n 1 file changed, 9 insertions(+)", false);
        rows.assistant("Paged by key.");
        rows.user(json!("Now name the keys in the manual."));
        edit(rows, 9, "docs/keys.md");
        rows.uses(10, &bash("cd ../other && pytest"));
        rows.result(10, "9 passed in 0.2s", false);
        rows.uses(11, &bash("make docs-test"));
        rows.result(11, "5 passed in 0.2s", false);
        rows.assistant("They are named.");
        rows.user(json!("Not sure that I like that wording, though."));
        rows.assistant("It is another one now.");
        rows.user(json!("commit it"));
        rows.uses(2, &bash("git commit -qam 'Name the keys'"));
        rows.result(2, "[keys 2b3c4d5] Name the keys\n 1 file changed, 9 insertions(+)", false);
        rows.assistant("Committed.");
    });
    put(&world, &rows.id, &rows.text);
    world.digest(&["--summarizer", "extract"]);
    let asked = |branch: &str| {
        let text = report(&world, &["--for", "pr", "--branch", branch, "--project", "shop"]);
        text.lines().filter(|line| line.starts_with("- “")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(asked("paging"), ["- “Page the order list by key, the offset gets slow.”"]);
    // What was said on the way there is left out.
    assert_eq!(asked("keys"), ["- “Now name the keys in the manual.”"]);
    let of = |branch: &str| -> Value {
        let args = ["--for", "pr", "--branch", branch, "--project", "shop", "--json"];
        serde_json::from_str::<Value>(&report(&world, &args)).expect("JSON")["projects"][0].clone()
    };
    let checks = |branch: &str| -> Vec<Value> {
        of(branch)["checks"].as_array().expect("checks").iter().map(|run| run["commands"][0].clone()).collect()
    };
    assert_eq!(
        (of("paging")["files"].clone(), checks("paging")),
        (json!(["src/orders.py"]), vec![json!("pytest tests/orders.py")])
    );
    assert_eq!((of("keys")["files"].clone(), checks("keys")), (json!(["docs/keys.md"]), vec![json!("make docs-test")]));
}

#[test]
fn a_pull_request_is_of_the_branch_that_is_checked_out() {
    let world = world();
    let home = world.root().join("home-of-shop");
    std::fs::create_dir_all(&home).expect("a folder");
    let none = world.command().args(["report", "--for", "pr"]).current_dir(&home).output().expect("it runs");
    assert_eq!(none.status.code(), Some(2));
    let told = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(told.contains("no branch is checked out") && told.contains("`--branch`"), "{told}");
}

#[test]
fn a_changelog_sorts_commits_by_kind_and_leaves_out_what_was_reverted() {
    let world = world();
    let text = report(&world, &["--for", "changelog", "--since", "2026-11-01"]);
    insta::assert_snapshot!(text);
    assert!(!text.contains("cache"), "{text}");
}

#[test]
fn what_was_before_is_not_told() {
    let world = world();
    let text = report(&world, &["--since", "2026-11-02"]);
    assert!(text.contains("Take the cache out") && !text.contains("Page the order list"), "{text}");
    let ran = world.recall(["report", "--since", "2026-11-15"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert!(ran.err.contains("no stored work matches"), "{}", ran.err);
}

#[test]
fn programs_get_the_same_as_json() {
    let world = world();
    let all: Value = serde_json::from_str(&report(&world, &["--since", "2026-11-01", "--json"])).expect("JSON");
    let work = &all["projects"][0];
    assert_eq!(work["project"], json!(SHOP));
    let subjects: Vec<&str> =
        work["commits"].as_array().expect("commits").iter().filter_map(|one| one["subject"].as_str()).collect();
    assert_eq!(subjects, ["feat: page orders by key", "Count invoices", "fix(orders): show the first page"]);
    assert_eq!(work["decided"], json!([{"kind": "answered", "asked": "Which key should it use?", "answer": "both"}]));
}

/// The text of a pull request from a branch of the shop.
fn of_pr(world: &World, branch: &str) -> String {
    report(world, &["--for", "pr", "--branch", branch, "--project", "shop"])
}

#[test]
fn a_pull_request_names_no_check_that_failed() {
    let world = World::new();
    let mut rows = Rows::new(0);
    on_branch(&mut rows, "paging", |rows| {
        rows.user(json!("Page the order list by key, the offset gets slow."));
        for (tool, command, printed, failed) in [
            (1, "npm test", "  9 passing\n  1 failing", true),
            (2, "npx vitest run; echo done", "Tests  2 failed | 7 passed (9)\ndone", false),
            (3, "pytest -q; echo done", "1 failed, 3 passed in 0.2s\ndone", false),
            (4, "go test ./... | tail -1", "ok  \tshop/orders\t0.1s", false),
            (5, "cargo test", "test result: ok. 4 passed; 0 failed; 0 ignored", false),
        ] {
            rows.uses(tool, &bash(command));
            rows.result(tool, printed, failed);
        }
        rows.assistant("The order list is paged by key now.");
    });
    put(&world, &rows.id, &rows.text);
    world.digest(&["--summarizer", "extract"]);
    let text = of_pr(&world, "paging");
    let (_, checks) = text.split_once("## Checks\n\n").expect("checks");
    let checks: Vec<&str> = checks.lines().take_while(|line| line.starts_with("- ")).collect();
    assert_eq!(
        checks,
        ["- `go test ./...`: “ok shop/orders 0.1s”", "- `cargo test`: passed, “test result: ok. 4 passed; 0 failed; 0 ignored”"],
        "{text}"
    );
    assert!(!text.contains("1 failing") && !text.contains("pytest") && !text.contains("vitest"), "{text}");
}

/// Commits of one name in two repositories are two.
#[test]
fn a_commit_in_another_repository_is_told_with_its_folder_and_stands_in_no_changelog() {
    let world = World::new();
    let mut rows = Rows::new(0);
    rows.user(json!("Release the shop, and the library that it needs."));
    rows.runs(&[
        ("git commit -am 'Release 1.2'", "[main 1111aaa] Release 1.2\n 1 file changed"),
        ("cd /srv/lib && git commit -am 'Other repo change'", "[main 2222bbb] Other repo change\n 1 file changed"),
        ("cd /srv/lib && git commit -am 'Release 1.2'", "[next 3333ccc] Release 1.2\n 1 file changed"),
    ]);
    rows.assistant("Both are released.");
    put(&world, &rows.id, &rows.text);
    world.digest(&["--summarizer", "extract"]);
    let page = world.recall(["show", "--full", &rows.id]).out;
    assert!(page.contains("2222bbb Other repo change (in /srv/lib, main"), "{page}");
    for purpose in ["standup", "week"] {
        let text = report(&world, &["--for", purpose, "--since", "2026-11-01"]);
        let made: Vec<&str> = text.lines().filter(|line| line.starts_with("- `") && !line.contains("Released")).collect();
        assert_eq!(
            made,
            [
                "- `1111aaa` Release 1.2",
                "- `2222bbb` Other repo change (in /srv/lib, main)",
                "- `3333ccc` Release 1.2 (in /srv/lib, next)",
            ],
            "{text}"
        );
    }
    let text = report(&world, &["--for", "changelog", "--since", "2026-11-01"]);
    assert_eq!(text.lines().filter(|line| line.starts_with("- ")).collect::<Vec<_>>(), ["- Release 1.2 (`1111aaa`)"], "{text}");
}

#[test]
fn a_commit_in_a_worktree_beside_the_project_is_its_own() {
    let world = World::new();
    let base = world.root().canonicalize().expect("a folder");
    let (repo, tree) = (base.join("shop"), base.join("shop-fix"));
    let admin = repo.join(".git/worktrees/fix");
    for folder in [&admin, &tree] {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    for (file, text) in [
        (admin.join("commondir"), "../..\n".to_owned()),
        (admin.join("gitdir"), format!("{}\n", tree.join(".git").display())),
        (tree.join(".git"), format!("gitdir: {}\n", admin.display())),
    ] {
        std::fs::write(file, text).expect("a file");
    }
    let mut rows = Rows::new(0);
    rows.user(json!("Fix the first page in a worktree."));
    let commit = format!("cd {} && git commit -am 'Show the first page'", tree.display());
    rows.runs(&[(&commit, "[fix 1111aaa] Show the first page\n 1 file changed")]);
    rows.assistant("It is fixed.");
    put(&world, &rows.id, &rows.text.replace(SHOP, repo.to_str().expect("a path")));
    world.digest(&["--summarizer", "extract"]);
    for purpose in ["standup", "changelog"] {
        let text = report(&world, &["--for", purpose, "--since", "2026-11-01"]);
        assert!(text.contains("Show the first page") && !text.contains("shop-fix"), "{text}");
    }
}

/// Of a file that was edited for both branches, the last edit alone does not tell.
#[test]
fn of_a_branch_only_what_was_edited_for_it_came_after_its_checks() {
    let checks = |is_edited_again: bool| {
        let world = World::new();
        let mut rows = Rows::new(0);
        on_branch(&mut rows, "paging", |rows| {
            rows.user(json!("Page the order list by key, the offset gets slow."));
            edit(rows, 1, "src/orders.py");
            rows.uses(2, &bash("pytest -q"));
            rows.result(2, "3 passed in 0.2s", false);
            if is_edited_again {
                rows.assistant("It is paged.");
                rows.user(json!("Name the key in a comment as well."));
                edit(rows, 3, "src/orders.py");
            }
            rows.uses(4, &bash("git commit -qam 'Page orders by key'"));
            rows.result(4, "[paging 1a2b3c4] Page orders by key\n 1 file changed, 9 insertions(+)", false);
            rows.assistant("Committed.");
        });
        on_branch(&mut rows, "manual", |rows| {
            rows.user(json!("Now write the manual of it on a branch of its own."));
            edit(rows, 5, "src/orders.py");
            rows.uses(6, &bash("git commit -qam 'Name the keys'"));
            rows.result(6, "[manual 2b3c4d5] Name the keys\n 1 file changed, 9 insertions(+)", false);
            rows.assistant("It is written.");
        });
        put(&world, &rows.id, &rows.text);
        let mut later = Rows::new(1);
        on_branch(&mut later, "manual", |rows| {
            rows.user(json!("Write the manual of invoices, too, please."));
            edit(rows, 1, "docs/invoices.md");
            rows.assistant("It is written.");
        });
        put(&world, &later.id, &later.text);
        world.digest(&["--summarizer", "extract"]);
        let text = of_pr(&world, "paging");
        text.lines().filter(|line| line.contains("pytest")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(checks(false), ["- `pytest -q`: passed, “3 passed in 0.2s”"]);
    assert_eq!(checks(true), ["- `pytest -q`: passed, “3 passed in 0.2s”, files were edited since"]);
}

/// Git printed no branch: the one that was begun before is the commit's.
#[test]
fn a_commit_that_git_did_not_tell_is_of_the_branch_that_was_begun() {
    let world = World::new();
    let mut rows = Rows::new(0);
    rows.user(json!("Export the order list as CSV, on a branch."));
    rows.uses(1, &bash("git checkout -b feat/csv"));
    rows.result(1, "Switched to a new branch 'feat/csv'", false);
    on_branch(&mut rows, "feat/csv", |rows| {
        edit(rows, 2, "src/export.py");
        rows.uses(3, &bash("git commit -q -m 'Add CSV export' && git log --oneline -1"));
        rows.result(3, "aaa1111 Add CSV export", false);
        rows.uses(4, &bash("cargo test"));
        rows.result(4, "test result: ok. 4 passed; 0 failed; 0 ignored", false);
        rows.assistant("Orders are exported as CSV.");
        rows.user(json!("Now write the docs of it on another branch."));
        rows.uses(5, &bash("git checkout -b feat/docs main"));
        rows.result(5, "Switched to a new branch 'feat/docs'", false);
    });
    on_branch(&mut rows, "feat/docs", |rows| {
        edit(rows, 6, "CHANGELOG.md");
        rows.assistant("The changelog tells it.");
    });
    put(&world, &rows.id, &rows.text);
    world.digest(&["--summarizer", "extract"]);
    let csv = of_pr(&world, "feat/csv");
    assert!(csv.contains("Export the order list") && csv.contains("`aaa1111` Add CSV export"), "{csv}");
    assert!(csv.contains("`cargo test`: passed") && !csv.contains("edited since") && !csv.contains("docs"), "{csv}");
    let docs = of_pr(&world, "feat/docs");
    assert!(docs.contains("Now write the docs") && docs.contains("`CHANGELOG.md`"), "{docs}");
    assert!(!docs.contains("CSV") && !docs.contains("cargo"), "{docs}");
}
