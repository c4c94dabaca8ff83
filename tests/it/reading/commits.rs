//! What a page says became of a commit: only what git showed of it.

use serde_json::json;

use crate::support::World;
use crate::support::rows::{Rows, SHOP, put};

/// What git prints of the commit that these sessions make on the branch `feat`.
const COMMITTED: &str = "[feat 2222bbb] Docs for rounding\n 1 file changed, 3 insertions(+)";

/// A session that is on the branch `feat`, and runs these commands: each with what it printed.
fn session(n: usize, calls: &[(&str, &str)]) -> Rows {
    let mut rows = Rows::new(n);
    rows.user(json!("Tell in the docs how sums are rounded."));
    rows.runs(calls);
    rows.assistant("The docs tell how sums are rounded.");
    rows.text = rows.text.replace("\"gitBranch\":\"main\"", "\"gitBranch\":\"feat\"");
    rows
}

/// The pages of these sessions, each with a commit on `feat` before its own commands.
fn pages(all: &[&[(&str, &str)]]) -> Vec<String> {
    let world = World::new();
    let mut ids = Vec::new();
    for (n, calls) in all.iter().enumerate() {
        let commit = ("git commit -am 'Docs for rounding'", COMMITTED);
        let rows = session(n, &[&[commit], *calls].concat());
        put(&world, &rows.id, &rows.text);
        ids.push(rows.id);
    }
    world.digest(&["--summarizer", "extract"]);
    ids.iter().map(|id| world.recall(["show", "--full", id]).out).collect()
}

const PUSHED: &str = "- 2222bbb Docs for rounding (feat, 1 file, pushed)\n";
const NOT_PUSHED: &str = "- 2222bbb Docs for rounding (feat, 1 file, no push seen)\n";

#[test]
fn a_commit_is_pushed_only_by_what_pushes_its_branch() {
    let main = "To github.com:m/p.git\n   aaaaaaa..bbbbbbb  main -> main";
    let feat = "To github.com:m/p.git\n   aaaaaaa..2222bbb  feat -> feat";
    let squashed =
        "Switched to branch 'main'\nSquash commit -- not updating HEAD\n[main 8888abc] Docs\n 1 file changed, 3 insertions(+)";
    let there = "Everything up-to-date";
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("git push origin main", main)], NOT_PUSHED),
        (&[("git push --dry-run origin feat", feat)], NOT_PUSHED),
        (&[("git push -n", feat)], NOT_PUSHED),
        (&[("git push -n && git push origin main", &format!("{feat}\n{main}"))], NOT_PUSHED),
        (&[("git push origin main", there)], NOT_PUSHED),
        (&[("git push -q origin main", "")], NOT_PUSHED),
        (&[("git push origin --delete feat", "To github.com:m/p.git\n - [deleted]         feat")], NOT_PUSHED),
        (&[("git push origin v1.0", "To github.com:m/p.git\n * [new tag]         v1.0 -> v1.0")], NOT_PUSHED),
        (&[("git push --tags", "To github.com:m/p.git\n * [new tag]         v1.0 -> v1.0")], NOT_PUSHED),
        (&[("git push origin feat || true", "")], NOT_PUSHED),
        (&[("git checkout main && git push", &format!("Switched to branch 'main'\n{there}"))], NOT_PUSHED),
        (&[("git checkout -q main", ""), ("git push", there)], NOT_PUSHED),
        (&[("gh pr checkout 7", ""), ("git push", there)], NOT_PUSHED),
        (
            &[
                ("git checkout main && git merge --squash feat && git commit -m 'Docs'", squashed),
                ("git push", "To github.com:m/p.git\n   1231231..8888abc  main -> main"),
            ],
            NOT_PUSHED,
        ),
        (&[("git push", feat)], PUSHED),
        (&[("git push -n && git push", &format!("{feat}\n{feat}"))], PUSHED),
        (&[("git push 2>&1 | tail -1", "   aaaaaaa..2222bbb  feat -> feat")], PUSHED),
        (&[("git push origin feat:main", "To github.com:m/p.git\n   aaaaaaa..2222bbb  feat -> main")], PUSHED),
        (&[("git push -u origin HEAD", "To github.com:m/p.git\n * [new branch]      HEAD -> feat")], PUSHED),
        (&[("git push -u origin feat", "To github.com:m/p.git\n * [new branch]      feat -> x")], PUSHED),
        (&[("git push -f", "To github.com:m/p.git\n + 1111aaa...2222bbb feat -> feat (forced update)")], PUSHED),
        (&[("git push origin feat", there)], PUSHED),
        (&[("git push", there)], PUSHED),
        (&[("git push -q", "")], PUSHED),
        (&[("git push -q origin main feat", "")], PUSHED),
        (
            &[
                ("git checkout main && git merge feat", "Switched to branch 'main'\nUpdating aaaaaaa..2222bbb\nFast-forward"),
                ("git push", "To github.com:m/p.git\n   aaaaaaa..2222bbb  main -> main"),
            ],
            PUSHED,
        ),
        (
            &[
                ("git checkout main && git merge --no-ff feat", "Switched to branch 'main'\nMerge made by the 'ort' strategy."),
                ("git push", "To github.com:m/p.git\n   aaaaaaa..bbbbbbb  main -> main"),
            ],
            PUSHED,
        ),
    ];
    let calls: Vec<&[(&str, &str)]> = cases.iter().map(|(calls, _)| *calls).collect();
    let wrong: Vec<String> = pages(&calls)
        .into_iter()
        .zip(cases)
        .filter(|(page, (_, line))| !page.contains(line))
        .map(|(page, (calls, line))| {
            let told = page.lines().filter(|line| line.contains("2222bbb")).collect::<Vec<_>>();
            format!("{calls:?}: not {line:?} but {told:?}")
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn commits_of_one_name_in_two_repositories_are_two() {
    let world = World::new();
    let rows = session(
        0,
        &[
            ("cd /home/dev/src/lib && git commit -am 'Release 1.2'", "[main 1111aaa] Release 1.2\n 1 file changed"),
            ("cd /home/dev/src/app && git commit -am 'Release 1.2'", "[main 2222bbb] Release 1.2\n 1 file changed"),
        ],
    );
    put(&world, &rows.id, &rows.text);
    world.digest(&["--summarizer", "extract"]);
    let page = world.recall(["show", "--full", &rows.id]).out;
    for (hash, folder) in [("1111aaa", "src/lib"), ("2222bbb", "src/app")] {
        assert!(page.lines().any(|line| line.contains(hash) && line.contains(folder)), "{hash}: {page}");
    }
}

/// Pages, starts and reports tell the same: what was undone is no commit that stands, and neither is what undid it.
#[test]
fn what_was_undone_stands_nowhere() {
    let reverted =
        "[feat 3333ccc] Revert \"Docs for rounding\"\n Date: Fri Nov 20 10:01:30 2026 +0000\n 1 file changed, 3 deletions(-)";
    let deleted = "Switched to branch 'main'\nDeleted branch feat (was 2222bbb).";
    let into_main = "Switched to branch 'main'\nUpdating aaaaaaa..2222bbb\nFast-forward";
    let cases: &[(&[(&str, &str)], bool)] = &[
        (&[("git revert --no-edit 2222bbb", reverted)], false),
        (&[("git revert --no-edit HEAD", reverted)], false),
        (&[("git revert --no-edit HEAD > /dev/null", "")], false),
        (&[("git revert --no-edit HEAD > /dev/null || true", "")], true),
        (&[("git revert --no-edit HEAD", reverted), ("git reset --hard HEAD~1", "HEAD is now at 2222bbb Docs for rounding")], true),
        (&[("git revert --no-edit HEAD", reverted), ("git commit -am 'Docs for rounding'", COMMITTED)], true),
        (&[("git checkout main && git branch -D feat", deleted)], false),
        (&[("git checkout -q main && git branch -q -D feat", "")], false),
        (&[("git checkout main && git branch -d feat", deleted)], true),
        (&[("git push", "   aaaaaaa..2222bbb  feat -> feat"), ("git checkout main && git branch -D feat", deleted)], true),
        (&[("git checkout main && git merge feat", into_main), ("git branch -D feat", "Deleted branch feat (was 2222bbb).")], true),
        (&[("git branch kept", ""), ("git checkout main && git branch -D feat", deleted)], true),
        (
            &[
                ("git checkout main && git pull", "Updating aaaaaaa..bbbbbbb\nFast-forward"),
                ("git branch -D feat", "Deleted branch feat (was 2222bbb)."),
            ],
            true,
        ),
        (&[("git checkout main && git branch -D other", "Switched to branch 'main'\nDeleted branch other (was 1111aaa).")], true),
        (&[("git branch -D feat || true", "error: cannot delete branch 'feat' used by worktree at '/home/dev/src/shop'")], true),
    ];
    for (calls, stands) in cases {
        let world = World::new();
        let commit = ("git commit -am 'Docs for rounding'", COMMITTED);
        let rows = session(0, &[&[commit], *calls].concat());
        put(&world, &rows.id, &rows.text);
        world.digest(&["--summarizer", "extract"]);
        for told in [
            world.recall(["show", "--full", &rows.id]),
            world.recall(["show", &rows.id]),
            world.recall(["context", "--cwd", SHOP]),
            world.recall(["report", "--since", "2026-11-01", "--project", "shop"]),
        ] {
            assert_eq!(told.code, 0, "{told:#?}");
            assert_eq!(told.out.contains("Docs for rounding"), *stands, "{calls:?}: {}", told.out);
            assert!(!told.out.contains("3333ccc"), "{calls:?}: {}", told.out);
        }
    }
}

#[test]
fn what_a_later_session_reverted_stands_no_more() {
    let world = World::new();
    let first = session(0, &[("git commit -am 'Docs for rounding'", COMMITTED)]);
    let reverted = "[feat 3333ccc] Revert \"Docs for rounding\"\n 1 file changed, 3 deletions(-)";
    let second = session(3, &[("git revert --no-edit 2222bbb", reverted)]);
    put(&world, &first.id, &first.text);
    put(&world, &second.id, &second.text);
    world.digest(&["--summarizer", "extract"]);
    let told = world.recall(["show", &first.id]).out;
    assert!(!told.contains("2222bbb"), "{told}");
    assert!(world.recall(["show", "--full", &first.id]).out.contains("2222bbb Docs for rounding"), "a page tells what stood then");
    assert!(world.recall(["show", &second.id]).out.contains("3333ccc Revert"), "in its own session it undid nothing");
}

/// A shell stays where it went. Its rows say where that was, though the command that committed does not.
#[test]
fn a_commit_is_told_with_the_folder_that_the_shell_had_gone_to() {
    let world = World::new();
    let mut rows = Rows::new(0);
    rows.user(json!("Update the library and the shop."));
    rows.runs_in(&[
        (SHOP, "main", "cd /home/dev/src/lib && git status", "On branch main"),
        ("/home/dev/src/lib", "main", "git commit -am 'Library: new x'", "[main 1212abc] Library: new x\n 1 file changed"),
        (
            "/home/dev/src/lib",
            "main",
            "cd sub && git commit -am 'Library: new y'",
            "[main 5656abc] Library: new y\n 1 file changed",
        ),
        ("/home/dev/src/lib/sub", "main", "cd /home/dev/src/shop/web && git status", "On branch main"),
        ("/home/dev/src/shop/web", "main", "git commit -am 'Shop: use new x'", "[main 3434def] Shop: use new x\n 1 file changed"),
    ]);
    rows.assistant("All are committed.");
    put(&world, &rows.id, &rows.text);
    let expected = [
        "- 3434def Shop: use new x (main, ",
        "- 5656abc Library: new y (in /home/dev/src/lib/sub, main, ",
        "- 1212abc Library: new x (in /home/dev/src/lib, main, ",
    ];
    let told = |world: &World| {
        let page = world.recall(["show", &rows.id]).out;
        assert!(expected.iter().all(|line| page.contains(line)), "{page}");
    };
    world.digest(&["--ingest-only"]);
    told(&world);
    world.digest(&["--summarizer", "extract"]);
    told(&world);
    let report = world.recall(["report", "--for", "pr", "--branch", "main", "--project", "shop"]).out;
    assert!(report.contains("Shop: use new x") && !report.contains("Library"), "{report}");
}

#[test]
fn where_all_commits_were_undone_none_is_left() {
    let reset = ("git reset --hard HEAD~1", "HEAD is now at 0000abc Initial");
    let reverted = ("git revert --no-edit HEAD", "[feat 3333ccc] Revert \"Docs for rounding\"\n 1 file changed");
    for undo in [reset, reverted] {
        let world = World::new();
        let rows = session(0, &[("git commit -am 'Docs for rounding'", COMMITTED), undo]);
        let edited = {
            let mut rows = session(3, &[("git commit -am 'Docs for rounding'", COMMITTED), undo]);
            rows.uses(
                9,
                &json!({"name": "Edit", "input": {"file_path": format!("{SHOP}/a.py"), "old_string": "a", "new_string": "b"}}),
            );
            rows.result(9, "The file has been updated.", false);
            rows.assistant("Edited.");
            rows
        };
        let none = session(6, &[("pytest -q", "3 passed in 0.1s")]);
        for rows in [&rows, &edited, &none] {
            put(&world, &rows.id, &rows.text);
        }
        world.digest(&["--summarizer", "extract"]);
        let told = |rows: &Rows, args: &[&str]| world.recall([&["show"], args, &[rows.id.as_str()]].concat()).out;
        assert!(told(&rows, &[]).contains("\nNo commit left.\n"), "{}", told(&rows, &[]));
        assert!(told(&edited, &[]).contains("\nFiles: a.py; no commit left\n"), "{}", told(&edited, &[]));
        assert!(told(&edited, &["--full"]).contains("- edited: `a.py`\n- no commit left\n"), "{}", told(&edited, &["--full"]));
        assert!(told(&none, &["--full"]).contains("- no commit seen\n"), "{}", told(&none, &["--full"]));
    }
}

/// Each repository is on a branch of its own.
#[test]
fn a_push_takes_the_branch_of_its_own_place() {
    let world = World::new();
    let mut rows = Rows::new(0);
    rows.user(json!("Update the shop and the library."));
    rows.runs_in(&[
        (SHOP, "feat", "git commit -qam 'Docs for rounding'", ""),
        ("/home/dev/src/lib", "dev", "git commit -qam 'Library: new x'", ""),
        ("/home/dev/src/lib", "dev", "cd /home/dev/src/shop && git push -q", ""),
        ("/home/dev/src/lib", "dev", "cd /home/dev/src/shop && git status", ""),
    ]);
    rows.assistant("Both are committed, and the shop is pushed.");
    put(&world, &rows.id, &rows.text);
    world.digest(&["--summarizer", "extract"]);
    let page = world.recall(["show", "--full", &rows.id]).out;
    assert!(page.contains("- Docs for rounding (feat, pushed)"), "{page}");
    assert!(page.contains("- Library: new x (in /home/dev/src/lib, dev, no push seen)"), "{page}");
}
