//! `recall fix`: where an error was met before, and what was done before the check passed.

use crate::support::{World, edited, ran, user};

const ONE: &str = "11117777-0000-4000-8000-000000000000";
const TWO: &str = "22227777-0000-4000-8000-000000000000";
const LIBPQ: &str = "Exit code 2\nTraceback (most recent call last):\nImportError: libpq.so.5: cannot open shared object file: No such file or directory\n1 error in 0.31s";
const PASSES: Result<&str, &str> = Ok("===== 12 passed in 2.31s =====");

fn at(minute: u32) -> String {
    format!("2026-11-12T09:{minute:02}:00Z")
}

fn row(session: &str, n: u32, command: &str, printed: Result<&str, &str>) -> String {
    ran(session, &format!("{}-{n}", &session[..8]), &at(n), command, printed)
}

fn says(session: &str, n: u32, text: &str) -> String {
    user(session, &format!("{}-{n}", &session[..8]), &at(n), text)
}

fn digested(rows: &str) -> World {
    let world = World::new();
    world.transcript(&format!("-p/{ONE}.jsonl"), rows);
    world.digest(&["--summarizer", "extract"]);
    world
}

fn fix(world: &World, error: &str) -> String {
    let ran = world.recall(["fix", error]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    ran.out
}

#[test]
fn an_error_is_told_with_what_was_done_before_the_check_passed() {
    let rows = says(ONE, 1, "Run the tests of the api, please")
        + &row(ONE, 2, "pytest tests/api", Err(LIBPQ))
        + &row(ONE, 3, "grep -rn libpq .", Ok(""))
        + &says(ONE, 4, "Install what is missing and try again")
        + &row(ONE, 5, "apt-get install -y libpq5", Ok("done"))
        + &row(ONE, 6, "cd /home/dev/src/shop && pytest tests/api -v 2>&1 | tail -3", PASSES);
    let world = digested(&rows);
    let expected = "occurred 1 time in 1 session, last on 2026-11-12\n\n2026-11-12 in shop, session 11117777, turn 1: ImportError: libpq.so.5: \
         cannot open shared object file: No such file or directory\n  by `pytest tests/api`\n  then `cd /home/dev/src/shop && pytest \
         tests/api -v 2>&1 | tail -3` passed (turn 2); in between: `apt-get install -y libpq5`\n";
    for asked in [
        "ImportError: libpq.so.5: cannot open shared object file: No such file or directory",
        "ImportError: libpq.so.6: cannot open shared object file",
        "libpq.so.5",
        "cannot open shared object file",
        "tests/conftest.py:3: in <module>\nE   ImportError: libpq.so.5: cannot open shared object file: No such file or directory\n== 1 error ==",
    ] {
        assert_eq!(fix(&world, asked), expected, "{asked}");
    }
    for other in ["ImportError: cannot import name 'x' from 'api'", "libpng.so.5", "No such module"] {
        assert!(fix(&world, other).starts_with("no command is known to have failed with this line: try `recall search"), "{other}");
    }
    for general in ["error", "1 error in 0.31s"] {
        assert_eq!(fix(&world, general), "that line is too general: give the whole line that says what failed\n", "{general}");
    }
    let json: serde_json::Value = serde_json::from_str(&world.recall(["fix", "libpq.so.5", "--json"]).out).expect("JSON");
    assert_eq!((&json["times"], &json["failures"][0]["passed"]["turn"]), (&1.into(), &2.into()), "{json}");
    assert!(
        world
            .recall(["fix", "libpq.so.5", "--project", "gallery"])
            .out
            .starts_with("no command is known to have failed with this line")
    );
}

/// By the same check, or by one that looks at more.
#[test]
fn a_check_that_passed_in_a_later_session_is_told() {
    let error = "Exit code 1\nsrc/api/orders.py:7:9: E711 Comparison to `None` should be `cond is None`\nFound 1 error.";
    let failed = "Exit code 1\n--- FAIL: TestPages (0.00s)\n    pages_test.go:31: the second page is empty\nFAIL";
    let world = World::new();
    let first = says(ONE, 1, "Check the api, please")
        + &row(ONE, 2, "cd /home/dev/src/shop && ruff check src/api", Err(error))
        + &row(ONE, 3, "go test ./pages/...", Err(failed));
    let later = says(TWO, 11, "Mend what is left over")
        + &row(TWO, 12, "go test ./orders/...", Ok("ok  \tshop/orders\t0.3s"))
        + &row(TWO, 13, "uv run ruff check . --output-format=concise", Ok("All checks passed!"));
    world.transcript(&format!("-p/{ONE}.jsonl"), first);
    world.transcript(&format!("-p/{TWO}.jsonl"), &later);
    world.digest(&["--summarizer", "extract"]);
    let told = fix(&world, "E711 Comparison to `None` should be `cond is None`");
    let passed = "  in a later session (22227777, 2026-11-12) `uv run ruff check . --output-format=concise` passed\n";
    assert!(told.ends_with(passed), "{told}");
    let told = fix(&world, "--- FAIL: TestPages (0.00s)");
    assert!(told.ends_with("  no passing run seen since\n"), "another folder's tests say nothing: {told}");
    world.transcript(&format!("-p/{TWO}.jsonl"), later + &row(TWO, 14, "go test -race ./...", Ok("ok  \tshop/pages\t0.3s")));
    world.digest(&["--summarizer", "extract"]);
    let told = fix(&world, "--- FAIL: TestPages (0.00s)");
    assert!(told.ends_with(", 2026-11-12) `go test -race ./...` passed\n"), "{told}");
}

/// Which of its lines somebody remembers is not known, and a cut output has no exit code.
#[test]
fn an_error_is_found_by_any_line_that_states_it_and_counted_once() {
    let signing = "Exit code 128\nerror: Signing file /tmp/.git_signing_buffer\nCouldn't sign message (signer): agent refused operation?\n\
        fatal: failed to write commit object";
    let cut = "--- FAIL: TestClosure (0.00s)\n    closure_test.go:42: commit: cannot auto-sign commit: register a plugin\nFAIL\n\
        FAIL\tshop/closure\t0.004s";
    let build =
        "# shop\n./client_test.go:186:79: not enough arguments in call to transport.AdvertiseRefs\nFAIL\tshop [build failed]";
    let rows = says(ONE, 1, "Run the tests and commit it, please")
        + &row(ONE, 2, "git commit -m 'Sort the orders'", Err(signing))
        + &row(ONE, 3, "go test ./closure/... 2>&1 | tail -20", Ok(cut))
        + &row(ONE, 4, "go test . 2>&1 | tail -20", Ok(build))
        + &edited(ONE, "e5", &at(5), "/home/dev/src/shop/client_test.go")
        + &row(ONE, 6, "go test . 2>&1 | tail -20", Ok("ok  \tshop\t0.1s"));
    let world = digested(&rows);
    for (asked, told) in [
        ("agent refused operation", "agent refused operation"),
        ("error: Signing file", "error: Signing file"),
        ("cannot auto-sign commit", "closure_test.go:42: commit: cannot auto-sign commit: register a plugin"),
        ("--- FAIL: TestClosure (0.00s)", "TestClosure"),
        ("FAIL: TestClosu", "TestClosure"),
        ("not enough arguments in call to transport.AdvertiseRefs", "passed (turn 1); in between: changes to client_test.go"),
    ] {
        let found = fix(&world, asked);
        assert!(found.starts_with("occurred 1 time in 1 session") && found.contains(told), "{asked}: {found}");
    }
    let friction = world.recall(["friction", "--json"]).out;
    assert!(!friction.contains("agent refused") && !friction.contains("TestClosure"), "{friction}");
}

/// The message of a panic stands below the line that says where it was.
#[test]
fn an_error_that_goes_on_in_the_next_line_is_found_by_either() {
    let panics = "Exit code 101\nrunning 1 test\n\nthread 'orders::sorts' (4711) panicked at src/orders.rs:12:9:\nthe page is empty before the first order\nnote: \
        run with `RUST_BACKTRACE=1` environment variable to display a backtrace\ntest result: FAILED. 0 passed; 1 failed; 0 ignored";
    let rows = says(ONE, 1, "Run the tests, please")
        + &row(ONE, 2, "cargo test orders", Err(panics))
        + &edited(ONE, "e3", &at(3), "/home/dev/src/shop/src/orders.rs")
        + &row(ONE, 4, "cargo fmt && cargo test", Ok("test result: ok. 5 passed; 0 failed"));
    let world = digested(&rows);
    for asked in [
        "thread 'orders::sorts' panicked at src/orders.rs:14:9:\nthe page is empty before the first order",
        "the page is empty before the first order",
        "thread 'orders::sorts' (99) panicked at src/orders.rs:30:1:",
    ] {
        let told = fix(&world, asked);
        assert!(
            told.contains("(4711) panicked at src/orders.rs:12:9: the page is empty before the first order\n"),
            "{asked}: {told}"
        );
        assert!(
            told.contains("then `cargo fmt && cargo test` passed (turn 1); in between: changes to src/orders.rs"),
            "{asked}: {told}"
        );
    }
    assert!(fix(&world, "the page is empty after the last order").starts_with("no command is known"));
}

/// As the same command, with more options, or as what it ran in turn.
#[test]
fn a_command_that_failed_is_known_again_in_other_words() {
    let failed = |error: &str| format!("Exit code 1\n{error}");
    for (command, printed, error, later, passes) in [
        ("make seed 2>&1", "", "ERROR: relation orders already exists", "docker compose up -d && make seed", true),
        ("npm run e2e", "> shop@1.0.0 e2e\n> vitest run e2e\n", "Error: connect ECONNREFUSED db", "npx vitest run e2e", true),
        ("npx vitest run e2e", "", "Error: connect ECONNREFUSED db", "npm run e2e", true),
        ("just check", "uv run pytest -q\n", "KeyError: 'price'", "uv run pytest -q tests/api", false),
        ("helm upgrade api charts/api", "", "Error: UPGRADE FAILED: no values", "helm upgrade api charts/api -f values.yaml", true),
        ("make seed", "", "ERROR: relation orders already exists", "make clean", false),
        ("npm ci && make seed", "", "ERROR: relation orders already exists", "make seed", false),
    ] {
        let in_turn = if later == "npm run e2e" { "> shop@1.0.0 e2e\n> vitest run e2e\n Tests  6 passed (6)" } else { "6 passed" };
        let rows = says(ONE, 1, "Go on, please")
            + &row(ONE, 2, command, Err(&failed(&format!("{printed}{error}"))))
            + &row(ONE, 3, later, Ok(in_turn));
        let told = fix(&digested(&rows), error);
        let expected = if passes { format!("then `{later}` passed (turn 1)") } else { "no passing run seen since".to_owned() };
        assert!(told.contains(&expected), "{command}, {later}: {told}");
    }
}

/// What is staged before it makes no other command of a commit.
#[test]
fn a_commit_that_failed_passed_later_whatever_was_staged_before_it() {
    let error = "Exit code 128\nerror: Signing file /tmp/.git_signing_buffer_tmpd5vSST\nfatal: failed to write commit object";
    let rows = says(ONE, 1, "Commit it, please")
        + &row(ONE, 2, "git add src/a.rs && git commit -m 'Sort the orders'", Err(error))
        + &row(ONE, 3, "git commit -m 'Sort the orders'", Ok("[main 1a2b3c4] Sort the orders\n 1 file changed"));
    let told = fix(&digested(&rows), "fatal: failed to write commit object");
    assert!(told.contains("then `git commit -m 'Sort the orders'` passed (turn 1)"), "{told}");
}

/// Of a long message the line that is kept is cut.
#[test]
fn a_commit_that_failed_passed_later_whatever_its_message_is() {
    let error = "Exit code 128\nerror: Signing file /tmp/.git_signing_buffer_tmpd5vSST\nfatal: failed to write commit object";
    let commit =
        |why: &str| format!("git add src/a.rs && git commit -m \"$(cat <<'EOF'\nSort the orders\n\n{}\nEOF\n)\"", why.repeat(60));
    let (first, second) = (commit("As they came in from the importer. "), commit("The oldest first, as the page shows them. "));
    let told = |later: &str, printed| {
        let rows = says(ONE, 1, "Commit it, please") + &row(ONE, 2, &first, Err(error)) + &row(ONE, 3, later, printed);
        fix(&digested(&rows), "fatal: failed to write commit object")
    };
    let passes = Ok("[main 1a2b3c4] Sort the orders\n 1 file changed");
    assert!(told(&second, passes).contains(" passed (turn 1)"), "{}", told(&second, passes));
    // A commit that was not seen, or another deed, proves nothing.
    assert!(told(&second, Ok("")).contains("no passing run seen since"), "{}", told(&second, Ok("")));
    assert!(told("git commit --amend --no-edit", passes).contains("no passing run seen since"));
}

/// A run of more tells of a part as well.
#[test]
fn what_failed_in_a_part_passed_later_where_all_of_it_passed() {
    let fails: Result<&str, &str> = Err("Exit code 1\n--- FAIL: TestPlanJson (0.00s)\nFAIL\tshop/cmd/plan\t0.1s");
    let told = |failed: &str, later: &str, passed: &str| {
        let rows = says(ONE, 1, "Run the tests, please") + &row(ONE, 2, failed, fails) + &row(ONE, 3, later, Ok(passed));
        fix(&digested(&rows), "FAIL: TestPlanJson")
    };
    let ok = "ok  \tshop/cmd/plan\t0.1s\nok  \tshop/store\t0.2s";
    for (failed, later) in [
        ("go test ./cmd/...", "go test ./... -count=1"),
        ("go test ./cmd/plan", "go test ./cmd/..."),
        ("pytest tests/api/a.py", "pytest tests/api"),
    ] {
        assert!(told(failed, later, ok).contains(" passed (turn 1)"), "{failed} | {later}: {}", told(failed, later, ok));
    }
    for (failed, later) in
        [("go test ./...", "go test ./cmd/..."), ("go test ./cmd/plan", "go test ./cmd"), ("pytest tests/api", "pytest tests/web")]
    {
        assert!(told(failed, later, ok).contains("no passing run seen since"), "{failed} | {later}");
    }
}

/// Only a run whose end was seen counts, and only of the same check.
#[test]
fn nothing_passed_that_was_not_seen_to_pass() {
    let fails = || says(ONE, 1, "Run the tests of the api, please") + &row(ONE, 2, "pytest tests/api", Err(LIBPQ));
    for later in [
        String::new(),
        row(ONE, 3, "pytest tests/other", PASSES),
        row(ONE, 3, "pytest tests/api -k login", PASSES),
        row(ONE, 3, "pytest tests/api | head -2", Ok("collected 12 items")),
        row(ONE, 3, "pytest tests/api || true", Ok("10 failed, 2 passed in 3s")),
        row(ONE, 3, "pytest tests/api", Err("Exit code 1\n1 failed")),
        row(ONE, 3, "pytest --version tests/api", Ok("pytest 8")),
    ] {
        let told = fix(&digested(&(fails() + &later)), "libpq.so.5");
        assert!(told.ends_with("  no passing run seen since\n"), "{told}\n{later}");
    }
    let broader = fix(
        &digested(&(fails() + &edited(ONE, "e1", &at(3), "/home/dev/src/shop/api.py") + &row(ONE, 4, "uv run pytest", PASSES))),
        "libpq.so.5",
    );
    assert!(broader.ends_with("  then `uv run pytest` passed (turn 1); in between: changes to api.py\n"), "{broader}");
    let again = fix(
        &digested(&(fails() + &row(ONE, 3, "pytest tests/api", PASSES) + &row(ONE, 4, "pytest tests/api", Err(LIBPQ)))),
        "libpq.so.5",
    );
    assert!(
        again.contains("turn 1, 2 times") && again.ends_with("  the error occurred again (turn 1); no passing run seen since\n"),
        "{again}"
    );
}

/// What is forgotten, or changed since, is not told; what is digested anew is told once.
#[test]
fn an_error_goes_with_its_session() {
    let rows = says(ONE, 1, "Run the tests of the api, please") + &row(ONE, 2, "pytest tests/api", Err(LIBPQ));
    let world = digested(&rows);
    world.transcript(&format!("-p/{TWO}.jsonl"), says(TWO, 1, "And once more, please") + &row(TWO, 2, "pytest", Err(LIBPQ)));
    world.digest(&["--summarizer", "extract"]);
    assert!(fix(&world, "libpq.so.5").starts_with("occurred 2 times in 2 sessions, last on 2026-11-12"));
    world.digest(&["--session", ONE, "--summarizer", "extract"]);
    assert!(fix(&world, "libpq.so.5").starts_with("occurred 2 times in 2 sessions"));
    let index = rusqlite::Connection::open(world.data_dir().join("recall.db")).expect("the index");
    index.execute("UPDATE digest SET account_rules = 1", []).expect("older accounts");
    world.digest(&["--summarizer", "extract"]);
    assert!(fix(&world, "libpq.so.5").starts_with("occurred 2 times in 2 sessions"));
    assert_eq!(world.recall(["forget", "--yes", "--session", TWO]).code, 0);
    assert!(fix(&world, "libpq.so.5").starts_with("occurred 1 time in 1 session"));
    index.execute("UPDATE digest SET account = NULL, account_rules = NULL", []).expect("no account");
    assert_eq!(world.count("SELECT count(*) FROM failure"), 0);
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.recall(["forget", "--yes", "--match", "libpq.so.5"]).code, 0);
    assert!(fix(&world, "libpq.so.5").starts_with("no command is known to have failed with this line"));
    assert_eq!(world.count("SELECT count(*) FROM failure WHERE line LIKE '%libpq%'"), 0);
}
