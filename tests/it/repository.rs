//! What git shows of the files, branches and references that sessions name: told wherever their words are, on no page, and found by a digest
//! that changes nothing of the repository and runs nothing of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::repository::TestRepository;
use crate::support::{World, assistant, tasks, user};

const S: &str = "aaaa1111-0000-4000-8000-000000000000";
const PATIENT: &str = "[hooks]\ndeadline_ms = 5000\n";
const EXTRACT: [&str; 2] = ["--summarizer", "extract"];
const SAID: &str = "The session cache of the ledger stands in `redis_cache.py`, and `app.py` asks it.";

/// A session of 12 November about the ledger, in which a task is left, on this branch.
fn session(world: &World, repository: &TestRepository, branch: &str) {
    let at = |minute: u32| format!("2026-11-12T09:{minute:02}:00Z");
    let rows = user(S, "u1", &at(0), "Where are sessions cached?")
        + &tasks(S, "t1", &at(1), &["Give redis_cache.py a limit", "Merge #12"])
        + &assistant(S, "a1", &at(2), SAID);
    let rows = rows.replace("/home/dev/src/shop", &repository.root().display().to_string());
    world.transcript(&format!("-p/{S}.jsonl"), rows.replace(r#""gitBranch":"main""#, &format!(r#""gitBranch":"{branch}""#)));
}

fn repository(world: &World) -> TestRepository {
    let repository = TestRepository::new(world, "ledger");
    repository.write("src/redis_cache.py", "import redis\n");
    repository.write("src/app.py", "import redis_cache\n");
    repository.commit("2026-11-10T09:00:00Z", "Cache in Redis");
    repository
}

fn start(world: &World, repository: &TestRepository) -> String {
    world.recall(["context", "--cwd", &repository.root().display().to_string()]).out
}

#[test]
fn a_file_that_a_commit_removed_since_is_told_with_the_commit_and_what_is_open_of_it_is_asked_about() {
    let world = World::new();
    world.configure(PATIENT);
    let repository = repository(&world);
    session(&world, &repository, "main");
    world.digest(&EXTRACT);
    let told = world.recall(["show", S]).out;
    assert!(told.contains("redis_cache.py") && !told.contains("since then"), "nothing came since: {told}");

    fs::remove_file(repository.root().join("src/redis_cache.py")).expect("gone");
    repository.write("src/app.py", "import lru\n");
    let hash = repository.commit("2026-11-14T09:00:00Z", "Drop Redis");
    repository.write("src/app.py", "import lru  # 100\n");
    let twelfth = repository.commit("2026-11-15T09:00:00Z", "Limit the cache (#12)");
    assert!(!world.recall(["show", S]).out.contains("was removed"), "only a digest asks git");
    world.digest(&EXTRACT);

    let gone = format!("`redis_cache.py` was removed ({hash}, 2026-11-14)");
    let shown = world.recall(["show", S]).out;
    assert!(shown.contains(&format!("since then: {gone}")), "{shown}");
    assert!(shown.contains(&format!("`app.py` was changed by 2 commits (the last: {twelfth}, 2026-11-15)")), "{shown}");
    for args in [["search", "session cache ledger"], ["context", "-c"]] {
        let folder = repository.root().display().to_string();
        let args: Vec<&str> =
            if args[0] == "context" { vec!["context", "--cwd", &folder, "-c", "session cache ledger"] } else { args.to_vec() };
        let told = world.recall(&args).out;
        assert!(told.contains(&gone) && !told.contains("2 commits"), "{args:?}: {told}");
    }
    let started = start(&world, &repository);
    assert!(
        started.contains(&gone) && started.contains(&format!("commit {twelfth}, 2026-11-15 names #12: Limit the cache (#12)")),
        "{started}"
    );
    let pages: String = world.pages().into_iter().map(|(_, text)| text).collect();
    assert!(pages.contains("redis_cache.py") && !pages.contains("was removed"), "no page tells what git said");

    world.configure("[privacy]\nexclude_projects = [\"**/ledger\"]\n");
    assert!(!world.recall(["search", "session cache ledger"]).out.contains("redis_cache"));
    world.configure(PATIENT);
    assert_eq!(world.recall(["forget", "--yes", "--session", S]).code, 0);
    assert_eq!(world.count("SELECT count(*) FROM observation"), 0, "it goes with the session");
}

#[test]
fn an_open_item_of_an_earlier_session_is_asked_about_where_its_file_is_gone() {
    let world = World::new();
    world.configure(PATIENT);
    let repository = repository(&world);
    session(&world, &repository, "main");
    for (n, day) in [(2, "16"), (3, "17")] {
        let id = format!("bbbb{n}111-0000-4000-8000-000000000000");
        let at = |minute: u32| format!("2026-11-{day}T09:{minute:02}:00Z");
        let rows = user(&id, &format!("u{n}"), &at(0), "Sort the list of accounts")
            + &assistant(&id, &format!("a{n}"), &at(2), "The accounts are sorted by name now.");
        world.transcript(&format!("-p/{id}.jsonl"), rows.replace("/home/dev/src/shop", &repository.root().display().to_string()));
    }
    fs::remove_file(repository.root().join("src/redis_cache.py")).expect("gone");
    let hash = repository.commit("2026-11-14T09:00:00Z", "Drop Redis");
    world.digest(&EXTRACT);
    let started = start(&world, &repository);
    let asked = format!("Give redis_cache.py a limit (2026-11-12): still open? `redis_cache.py` was removed ({hash}, 2026-11-14)");
    assert!(started.contains(&asked), "{started}");
}

#[test]
fn of_a_branch_is_told_that_its_commit_is_in_another_or_that_it_is_gone() {
    let world = World::new();
    world.configure(PATIENT);
    let repository = repository(&world);
    repository.git(&["branch", "feat/limit"]);
    session(&world, &repository, "feat/limit");
    world.digest(&EXTRACT);
    assert!(!world.recall(["show", S]).out.contains("feat/limit` is gone"));
    repository.git(&["branch", "-d", "-q", "feat/limit"]);
    world.digest(&EXTRACT);
    let shown = world.recall(["show", S]).out;
    assert!(shown.contains("since then: branch `feat/limit` is gone (looked for on 2026-11-2"), "{shown}");
}

/// A repository may come from anywhere, with a config of its own.
#[test]
fn a_digest_runs_nothing_that_a_repository_names_and_leaves_it_as_it_was() {
    let world = World::new();
    world.configure(PATIENT);
    let repository = repository(&world);
    let (trap, sprung) = (world.root().join("trap"), world.root().join("sprung"));
    fs::write(&trap, format!("#!/bin/sh\n: > '{}'\n", sprung.display())).expect("a trap");
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).expect("it runs");
    let trap = trap.display().to_string();
    repository.write(".gitattributes", "*.py diff=trap filter=trap\n");
    repository.commit("2026-11-11T09:00:00Z", "Attributes");
    for name in [
        "core.fsmonitor", "core.sshCommand", "core.pager", "diff.external", "diff.trap.textconv", "diff.trap.command",
        "gpg.program",
    ] {
        repository.git(&["config", name, &trap]);
    }
    for name in ["filter.trap.clean", "filter.trap.smudge", "core.askPass", "core.editor", "alias.log"] {
        repository.git(&["config", name, &trap]);
    }
    repository.git(&["config", "log.showSignature", "true"]);
    for hook in ["post-index-change", "reference-transaction", "post-checkout"] {
        fs::copy(world.root().join("trap"), repository.root().join(".git/hooks").join(hook)).expect("a hook");
    }
    let _ = fs::remove_file(&sprung);
    session(&world, &repository, "main");
    let before = repository_files(&repository);
    world.digest(&EXTRACT);
    assert!(!sprung.exists(), "something of the repository ran");
    assert_eq!(before, repository_files(&repository));
    assert!(world.count("SELECT count(*) FROM fact WHERE name GLOB 'repository:*'") > 0, "git was asked");
}

fn repository_files(repository: &TestRepository) -> Vec<(std::path::PathBuf, u64, std::time::SystemTime)> {
    let all = crate::support::files_below(repository.root());
    let with = |path: std::path::PathBuf| fs::metadata(&path).map(|meta| (path, meta.len(), meta.modified().expect("a time")));
    let mut all: Vec<_> = all.into_iter().map(|path| with(path).expect("a file")).collect();
    all.sort();
    all
}
