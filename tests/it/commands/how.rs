//! `recall how`: the commands that work in a project, and what a session's start tells of them.

use crate::support::{World, assistant, ran, user};

const PASSES: Result<&str, &str> = Ok("===== 12 passed in 2.31s =====");
const FAILS: Result<&str, &str> = Err("Exit code 1\nFAILED tests/api.py::test_login\n1 failed, 11 passed in 3s");

/// A session of the shop's that ran these, one a minute.
fn session(world: &World, n: u32, commands: &[(&str, Result<&str, &str>)]) {
    let id = format!("{n}{n}{n}{n}9999-0000-4000-8000-000000000000");
    let mut rows = user(&id, &format!("u{n}"), &format!("2026-11-{:02}T09:00:00Z", 10 + n), "Work on the api, please");
    for (minute, (command, printed)) in commands.iter().enumerate() {
        rows += &ran(&id, &format!("r{n}-{minute}"), &format!("2026-11-{:02}T09:{:02}:00Z", 10 + n, minute + 1), command, *printed);
    }
    rows += &assistant(&id, &format!("a{n}"), &format!("2026-11-{:02}T09:59:00Z", 10 + n), "That is all.");
    world.transcript(&format!("-home-dev-src-shop/{id}.jsonl"), rows);
}

fn how(world: &World, args: &[&str]) -> String {
    let ran = world.recall([&["how", "--project", "shop"], args].concat());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    ran.out
}

/// Without it the program is not found.
#[test]
fn a_command_of_a_virtual_environment_is_told_with_what_activates_it() {
    let world = World::new();
    let missing = Err("Exit code 127\n/bin/bash: pytest: command not found");
    let many = [
        ("pytest tests", missing),
        ("(source .venv/bin/activate && pytest tests)", PASSES),
        ("cd web && . env/bin/activate && ruff check .", Ok("All checks passed!")),
        ("source .venv/bin/activate && pytest tests", PASSES),
        ("cd web && . env/bin/activate && ruff check .", Ok("All checks passed!")),
    ];
    session(&world, 1, &many);
    world.digest(&["--summarizer", "extract"]);
    let told = how(&world, &[]);
    assert!(told.contains("  `source .venv/bin/activate && pytest tests`: passed 2 of 3 runs"), "{told}");
    assert!(told.contains("  `. env/bin/activate && ruff check .` in web: passed 2 of 2 runs"), "{told}");
}

#[test]
fn with_other_variables_it_is_another_command() {
    let world = World::new();
    let many = [
        ("pytest tests", FAILS),
        ("pytest tests", FAILS),
        ("export CONFIG=/dev/null && pytest tests", PASSES),
        ("export CONFIG=/dev/null; pytest tests", PASSES),
        ("pytest tests", PASSES),
        ("pytest tests", PASSES),
        ("DB=sqlite pytest -q all", PASSES),
        ("CI=1 DB=sqlite pytest all", PASSES),
        ("DB=postgres pytest -q all", FAILS),
    ];
    session(&world, 1, &many);
    world.digest(&["--summarizer", "extract"]);
    let told = how(&world, &[]);
    assert!(told.contains("  `export CONFIG=/dev/null && pytest tests`: passed 2 of 2 runs, "), "{told}");
    assert!(told.contains("  `CI=1 DB=sqlite pytest all`: passed 2 of 2 runs, "), "{told}");
    assert!(told.contains("  `pytest tests`: passed 2 of 4 runs"), "{told}");
}

#[test]
fn what_passed_is_told_by_class_however_it_was_written() {
    let world = World::new();
    session(
        &world,
        1,
        &[
            ("pytest tests/api -v", FAILS),
            ("cd /home/dev/src/shop && DEBUG=1 pytest tests/api 2>&1 | tail -3", PASSES),
            ("cd web && npm run lint", Ok("done")),
            ("npm run build", Ok("built")),
            ("npm run build", Err("Exit code 1\n[TypeError: generate is not a function]")),
            ("cargo clippy", Err("Exit code 101\nerror: unused variable")),
            ("pytest --collect-only", PASSES),
            ("docker compose up -d", Ok("Started")),
            ("pytest tests/api | head -1", Ok("collected")),
            ("bin/deploy staging", Ok("deployed")),
        ],
    );
    session(
        &world,
        2,
        &[
            ("uv run pytest -q tests/api", PASSES),
            ("npm run build", Ok("built")),
            ("npm run build", Err("Exit code 1\n[TypeError: generate is not a function]")),
            ("alembic upgrade head", Ok("done")),
        ],
    );
    world.digest(&["--summarizer", "extract"]);
    let expected = "in /home/dev/src/shop:\ntest\n  `uv run pytest -q tests/api`: passed 2 of 3 runs, last on 2026-11-12\nlint\n  `npm run lint` in web: \
         passed 1 of 1 run, last on 2026-11-11\nbuild\n  `npm run build`: passed 2 of 4 runs, failed when it ran last, on 2026-11-12\nrun\n  `docker \
         compose up -d`: passed 1 of 1 run, last on 2026-11-11\ndeploy\n  `bin/deploy staging`: passed 1 of 1 run, last on 2026-11-11\nmigrate\n  \
         `alembic upgrade head`: passed 1 of 1 run, last on 2026-11-12\n";
    assert_eq!(how(&world, &[]), expected);
    assert_eq!(how(&world, &["tests"]).lines().nth(2), expected.lines().nth(2));
    assert_eq!(how(&world, &["alembic"]).lines().count(), 3);
    assert!(how(&world, &["credo"]).starts_with("no passing commands of this kind found in this project"));
    let json: serde_json::Value = serde_json::from_str(&how(&world, &["--json"])).expect("JSON");
    assert_eq!((&json["commands"][0]["class"], &json["commands"][0]["passed"]), (&"test".into(), &2.into()), "{json}");
    assert!(world.recall(["how"]).out.starts_with("no passing commands found in this project"), "this folder's project has none");
}

#[test]
fn what_ran_once_is_told_where_nothing_of_its_kind_has_proved_itself_or_where_it_is_asked_for() {
    let world = World::new();
    let once = ("go test -run TestPrune -count=50 ./internal/planner", PASSES);
    session(&world, 1, &[("go test ./...", PASSES), ("go test ./...", PASSES), once, ("golangci-lint run", Ok("0 issues."))]);
    let fails = ("npm run build", Err("Exit code 1\n[TypeError: generate is not a function]"));
    session(&world, 2, &[("npm run build", Ok("built")), ("npm run build", Ok("built")), fails, fails, fails]);
    world.digest(&["--summarizer", "extract"]);
    let all = how(&world, &[]);
    assert!(all.contains("`go test ./...`") && all.contains("`golangci-lint run`") && !all.contains("-count=50"), "{all}");
    assert!(all.contains("`npm run build`: passed 2 of 5 runs, failed when it ran last, on 2026-11-12"), "{all}");
    assert!(how(&world, &["test"]).contains("-count=50"));
}

/// What a command does follows from its subcommand, its script or its target.
#[test]
fn commands_are_told_by_what_their_words_say() {
    let world = World::new();
    let done = Ok("done");
    let many = [
        ("vercel deploy --prod", done),
        ("prisma migrate deploy", done),
        ("make run", done),
        ("buf generate", done),
        ("uvicorn app:app", done),
        ("cargo fmt", done),
        ("eval $(opam env) && dune test", done),
        ("export MODE=a && just train tiny", done),
        ("git push && kubectl get deploy", done),
        ("npm install serve", done),
        ("php artisan make:migration add_x", done),
    ];
    session(&world, 1, &many);
    world.digest(&["--summarizer", "extract"]);
    let told = how(&world, &[]);
    let expected = "in /home/dev/src/shop:\ntest\n  `eval $(opam env) && dune test`: passed 1 of 1 run, last on 2026-11-11\nformat\n  `cargo fmt`: passed 1 of 1 \
         run, last on 2026-11-11\nbuild\n  `buf generate`: passed 1 of 1 run, last on 2026-11-11\nrun\n  `make run`: passed 1 of 1 run, last on \
         2026-11-11\n  `uvicorn app:app`: passed 1 of 1 run, last on 2026-11-11\n  `export MODE=a && just train tiny`: passed 1 of 1 run, last on \
         2026-11-11\ndeploy\n  `vercel deploy --prod`: passed 1 of 1 run, last on 2026-11-11\nmigrate\n  `prisma migrate deploy`: passed 1 of 1 run, last on \
         2026-11-11\n";
    assert_eq!(told, expected);
}

/// Of each step it is told what was seen of it.
#[test]
fn each_command_of_a_line_counts_on_its_own() {
    let world = World::new();
    let fails = Err("Exit code 1\nnothing to say");
    let many = [
        ("npm ci && npm run build && vercel deploy", Ok("done")),
        ("(cd api && make migrate) && (cd web && npm run lint)", Ok("done")),
        ("bin/deploy a; terraform apply -auto-approve", Ok("done")),
        ("cargo build && cargo test 2>&1 | tail -5", Ok("test result: ok. 5 passed; 0 failed")),
        ("sbt test | tail -2", Ok("[info] Tests: succeeded 26, failed 0, canceled 0")),
        ("fly deploy | tail -3", Ok("done")),
        ("cargo clippy 2>&1 | head -20", Ok("    Checking shop v0.1.0")),
        ("flask db upgrade || true", Ok("done")),
        ("cargo fmt --check || cargo fmt", Ok("")),
        ("npm run dev & sleep 5; curl localhost", Ok("up")),
        ("npm ci && helm upgrade api charts/api", fails),
        ("just seed; docker compose up -d", fails),
    ];
    session(&world, 1, &many);
    world.digest(&["--summarizer", "extract"]);
    let told = how(&world, &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    let line = |one: &serde_json::Value| {
        Some(format!("{} {} {}/{}", one["folder"].as_str()?, one["command"].as_str()?, one["passed"], one["ran"]))
    };
    let all: Vec<String> = json["commands"].as_array().expect("commands").iter().filter_map(line).collect();
    let expected = [
        " cargo test 1/1", " sbt test 1/1", "web npm run lint 1/1", " npm run build 1/1", " cargo build 1/1", " vercel deploy 1/1",
        " terraform apply -auto-approve 1/1", "api make migrate 1/1",
    ];
    assert_eq!(all, expected, "{told}");
}

#[test]
fn a_start_tells_the_steadiest_in_a_line_where_there_is_room() {
    let world = World::new();
    let runs = [("cargo test --locked", Ok("test result: ok. 5 passed; 0 failed")); 2];
    session(&world, 1, &[runs[0], runs[1], ("cargo clippy", Ok("done")), ("cargo build", Ok("done"))]);
    world.digest(&["--summarizer", "extract"]);
    let context = |tokens: &str| world.recall(["context", "--cwd", "/home/dev/src/shop", "--max-tokens", tokens]).out;
    assert!(!context("1500").contains("Commands that passed"), "of one session only");
    session(&world, 2, &[runs[0], ("cargo test --locked", Err("Exit code 101\nerror[E0425]: cannot find value"))]);
    world.digest(&["--summarizer", "extract"]);
    assert!(!context("1500").contains("Commands that passed"), "it failed last");
    session(&world, 3, &[runs[0]]);
    world.digest(&["--summarizer", "extract"]);
    let told = context("1500");
    assert!(told.contains("\nCommands that passed here: test `cargo test --locked` (4 of 5, 13 Nov).\n"), "{told}");
    assert!(!context("150").contains("Commands that passed"), "no room");
}
