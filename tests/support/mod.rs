//! A world of its own for every test: a home, a Claude Code config directory, a data folder and a clock that stands still.
//!
//! The one place where the tests start `recall`: no variable and no folder of the machine's user is ever seen by it.
#![allow(dead_code, reason = "each of the two test binaries uses another part")]

pub mod answers;
pub mod chunks;
pub mod client;
pub mod data_folder;
pub mod embeddings;
pub mod held;
pub mod invisible;
pub mod loopback;
pub mod mcp_client;
pub mod messages_api;
pub mod model_api;
#[cfg(feature = "team")]
pub mod postgres;
pub mod repository;
pub mod rows;
pub mod size;
pub mod stand_in;
pub mod terminal;
pub mod timeout;
pub mod unprivileged;
pub mod web_client;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use assert_cmd::Command;

/// The moment at which all runs take place unless a test says otherwise: after every fixture.
pub const NOW: &str = "2026-11-21T12:00:00Z";

pub struct World {
    folder: tempfile::TempDir,
}

/// What a run printed and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Where worlds lie: in memory, where there is much of it and programs may be run there, as what is tested syncs all it writes. TMPDIR
/// goes before that.
fn place() -> &'static Path {
    static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
        const MEMORY: &str = "/dev/shm";
        const LEAST_BYTES: u64 = 4 << 30;
        let has_room = || rustix::fs::statvfs(MEMORY).is_ok_and(|of| of.f_bavail * of.f_frsize >= LEAST_BYTES);
        let runs = || {
            let folder = tempfile::tempdir_in(MEMORY).ok()?;
            let script = folder.path().join("script");
            fs::write(&script, "#!/bin/sh\n").ok()?;
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).ok()?;
            std::process::Command::new(&script).status().ok().filter(|status| status.success())
        };
        let fits = std::env::var_os("TMPDIR").is_none() && has_room() && runs().is_some();
        if fits { MEMORY.into() } else { std::env::temp_dir() }
    });
    &PLACE
}

impl World {
    pub fn new() -> Self {
        let world = Self { folder: tempfile::tempdir_in(place()).expect("a temporary folder") };
        for dir in [world.home(), world.claude_dir().join("projects"), world.bin()] {
            fs::create_dir_all(dir).expect("the folders of a world");
        }
        world
    }

    /// A world whose Claude Code config directory holds copies of the named fixtures.
    pub fn with_fixtures(names: &[&str]) -> Self {
        let world = Self::new();
        for name in names {
            copy_tree(&fixtures().join("claude-code-2.1.197").join(name), &world.claude_dir());
        }
        world.age_transcripts();
        world
    }

    /// The same, digested.
    pub fn digested(names: &[&str]) -> Self {
        let world = Self::with_fixtures(names);
        world.digest(&[]);
        world
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub fn claude_dir(&self) -> PathBuf {
        self.root().join("claude")
    }

    pub fn data_dir(&self) -> PathBuf {
        self.root().join("data")
    }

    /// Deletes the index with all that belongs to it; pages stay.
    pub fn lose_index(&self) {
        for file in std::fs::read_dir(self.data_dir()).expect("the data folder").map(|entry| entry.expect("a file").path()) {
            if file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("recall.db")) {
                std::fs::remove_file(file).expect("a file of the index");
            }
        }
    }

    pub fn config_file(&self) -> PathBuf {
        self.root().join("config/config.toml")
    }

    /// The first folder of the search path: what lies here is `claude`.
    pub fn bin(&self) -> PathBuf {
        self.root().join("bin")
    }

    pub fn daily(&self) -> PathBuf {
        self.data_dir().join("daily")
    }

    /// `recall`, with an environment that holds nothing of the machine's.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_recall"));
        command.env_clear().envs(self.environment()).current_dir(self.root());
        command
    }

    /// The program's path, for what others start in this environment.
    pub fn program(&self) -> &'static str {
        env!("CARGO_BIN_EXE_recall")
    }

    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let text = |path: PathBuf| path.to_str().expect("a UTF-8 path").to_owned();
        vec![
            // Nothing but the world's own: the machine may have a `claude` of its user's.
            ("PATH", text(self.bin())),
            ("HOME", text(self.home())),
            ("CLAUDE_CONFIG_DIR", text(self.claude_dir())),
            ("RECALL_DATA_DIR", text(self.data_dir())),
            ("RECALL_NOW", NOW.to_owned()),
            ("TZ", "Europe/Berlin".to_owned()),
        ]
    }

    /// Runs `recall` and waits for it.
    pub fn recall<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        self.recall_with(args, &[])
    }

    /// The same with further variables.
    pub fn recall_with<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>, variables: &[(&str, &str)]) -> Ran {
        let output = self.command().args(args).envs(variables.iter().copied()).output().expect("recall starts");
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs `recall digest --json` with more arguments and returns its report.
    pub fn digest(&self, args: &[&str]) -> serde_json::Value {
        let ran = self.recall(["digest", "--json"].iter().chain(args));
        assert!(ran.code < 2, "{ran:#?}");
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))
    }

    /// Writes the config file and makes the runs use it: `recall_with(…, &[("RECALL_CONFIG", …)])` is not needed.
    pub fn configure(&self, text: &str) {
        // Where the platform looks for it below the home of this world.
        for place in [".config/recall", "Library/Preferences/recall"] {
            let dir = self.home().join(place);
            fs::create_dir_all(&dir).expect("the config folder");
            fs::write(dir.join("config.toml"), text).expect("the config file");
        }
    }

    /// Writes a transcript below `projects/`, old enough to be settled.
    pub fn transcript(&self, path: &str, lines: impl AsRef<[u8]>) -> PathBuf {
        let file = self.claude_dir().join("projects").join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("the project's folder");
        fs::write(&file, lines).expect("the transcript");
        age(&file, Duration::from_secs(3600));
        file
    }

    /// Makes all transcripts an hour old by the world's clock.
    pub fn age_transcripts(&self) {
        for file in files_below(&self.claude_dir()) {
            age(&file, Duration::from_secs(3600));
        }
    }

    /// Adds rows to the transcript of a recorded session.
    pub fn append(&self, session: &str, rows: &str) {
        let file = self.claude_dir().join(format!("projects/-home-dev-src-shop/{session}.jsonl"));
        fs::write(&file, fs::read_to_string(&file).expect("a transcript") + rows).expect("a transcript");
        age(&file, Duration::from_secs(3600));
    }

    /// Puts a shell script where `claude` is looked for. The system's commands are at hand in it, not in the world.
    pub fn fake_claude(&self, script: &str) -> PathBuf {
        let path = self.bin().join("claude");
        let script = script.replacen("#!/bin/sh\n", "#!/bin/sh\nPATH=/usr/bin:/bin\n", 1);
        fs::write(&path, script).expect("the script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its permissions");
        path
    }

    /// Puts the program under test on the search path, for what others start.
    pub fn link_recall(&self) {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_recall"), self.bin().join("recall")).expect("recall on the search path");
    }

    /// Makes the index one of format 8, the oldest that is upgraded: takes back what came later, and by what rules it was cleaned.
    pub fn make_index_older(&self) {
        let db = rusqlite::Connection::open(self.data_dir().join("recall.db")).expect("the index");
        let back =
            "DROP TRIGGER origin_digested; DROP TABLE origin; ALTER TABLE forgotten_row DROP COLUMN everywhere; ALTER TABLE session DROP COLUMN client; DROP INDEX doc_memory_file; ALTER TABLE doc DROP COLUMN memory_file; DROP TABLE memory_file; DROP TRIGGER rule_mention_gone; DROP TRIGGER receipt_gone; DROP TABLE receipt; DROP TRIGGER account_gone; DROP TABLE failure; DROP TABLE command; DROP INDEX digest_account; ALTER TABLE digest DROP COLUMN account; ALTER TABLE digest DROP COLUMN account_rules;
            ALTER TABLE source DROP COLUMN evident; ALTER TABLE source DROP COLUMN placed; ALTER TABLE source DROP COLUMN since; ALTER TABLE excluded_session DROP COLUMN cut_at; ALTER TABLE excluded_session DROP COLUMN kept; ALTER TABLE attempt DROP COLUMN declined; DROP TABLE session_folder; DROP TABLE wrong; DROP TABLE overtaken; DROP TABLE observation; DROP TABLE rule_mention; DROP TABLE closing; DROP INDEX open_item_life; DROP INDEX open_item_lifeless; ALTER TABLE open_item DROP COLUMN life; DROP INDEX private_turn_open; DROP INDEX start_first; DROP INDEX source_place;
            DROP TABLE later_day; DROP TABLE answered; DROP TABLE client_cost; DROP TABLE private_word; DROP TABLE asked;
            ALTER TABLE note DROP COLUMN author; ALTER TABLE note DROP COLUMN closed_at; ALTER TABLE note DROP COLUMN closed_by;
            ALTER TABLE user_closed DROP COLUMN author; DROP INDEX session_end;
            DROP INDEX session_dirty; CREATE INDEX session_dirty ON session(dirty) WHERE dirty; DELETE FROM fact; PRAGMA user_version = 8;";
        db.execute_batch(back).expect("the older format");
    }

    /// Puts an index into the data folder that a program of format 8 wrote: see `fixtures/README.md`.
    pub fn put_index_of_format_8(&self) {
        let packed = fs::read(fixtures().join("index-format-8.db.zst")).expect("the fixture");
        fs::create_dir_all(self.data_dir()).expect("the data folder");
        fs::set_permissions(self.data_dir(), fs::Permissions::from_mode(0o700)).expect("its permissions");
        let index = self.data_dir().join("recall.db");
        fs::write(&index, zstd::bulk::decompress(&packed, 1 << 20).expect("a frame")).expect("the index");
        fs::set_permissions(&index, fs::Permissions::from_mode(0o600)).expect("its permissions");
    }

    /// What the doctor finds about one thing, as `state: found`.
    pub fn findings(&self, about: &str, variables: &[(&str, &str)]) -> Vec<String> {
        let ran = self.recall_with(["doctor", "--json"], variables);
        let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
        let text = |f: &serde_json::Value, key: &str| f[key].as_str().unwrap_or_default().to_owned();
        let all = told["findings"].as_array().expect("findings").iter();
        all.filter(|f| f["about"] == about).map(|f| format!("{}: {}", text(f, "state"), text(f, "found"))).collect()
    }

    /// The commands that `recall --help` lists.
    pub fn commands(&self) -> Vec<String> {
        let help = self.recall(["--help"]).out;
        let listed = help
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
            .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
        // Each on a line of its own, or all of a group one after the other.
        let names = listed.flat_map(|line| match line.split_once("  ") {
            Some((name, _)) => vec![name.trim()],
            None => line.split(", ").map(|name| name.trim_end_matches(',')).collect(),
        });
        names.map(str::to_owned).filter(|name| name != "help").collect()
    }

    /// All pages by path below the data folder.
    pub fn pages(&self) -> Vec<(String, String)> {
        let mut pages: Vec<_> = files_below(&self.daily())
            .into_iter()
            .map(|file| {
                let name = file.strip_prefix(self.data_dir()).expect("below the data folder").to_str().expect("UTF-8").to_owned();
                (name, fs::read_to_string(&file).expect("a page"))
            })
            .collect();
        pages.sort();
        pages
    }

    /// The database, opened beside `recall` for looking only.
    pub fn database(&self) -> rusqlite::Connection {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        rusqlite::Connection::open_with_flags(self.data_dir().join("recall.db"), flags).expect("the database")
    }

    /// How many items the index holds.
    pub fn items(&self) -> i64 {
        self.count("SELECT coalesce(sum(items), 0) FROM bundle")
    }

    /// One number from the database.
    pub fn count(&self, sql: &str) -> i64 {
        self.database().query_row(sql, [], |r| r.get(0)).unwrap_or_else(|e| panic!("{sql}: {e}"))
    }
}

/// How many instructions SQLite took for each statement, by its text: of a file that `RECALL_STEPS` named.
pub fn steps_in(file: &Path) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for line in fs::read_to_string(file).expect("steps").lines() {
        let (steps, sql) = line.split_once('\t').expect("a number and a statement");
        *all.entry(sql.to_owned()).or_default() += steps.parse::<u64>().expect("a number");
    }
    all
}

/// What the model's client prints of a session of which a script puts the number in the place of SUM.
pub fn numbered_reply(cost: f64) -> String {
    let form = serde_json::json!({
        "title": "Work number SUM was done", "request": "Do the work", "investigated": [], "learned": ["work number SUM is hard"],
        "completed": ["work number SUM"], "decisions": [], "files": [], "blockers": [],
        "next_steps": [{"text": "Look at what is left of work SUM", "rows": []}], "closes": [], "questions": [],
    });
    let said = serde_json::json!({
        "type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "result": form.to_string(),
        "total_cost_usd": cost, "modelUsage": {"claude-haiku-4-5-20251001": {"inputTokens": 4, "outputTokens": 10, "costUSD": cost}},
    });
    said.to_string()
}

pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Sets a file's time to `by` before the world's clock.
pub fn age(file: &Path, by: Duration) {
    let now: jiff::Timestamp = NOW.parse().expect("a time");
    let at = SystemTime::from(now) - by;
    fs::File::options().write(true).open(file).and_then(|f| f.set_modified(at)).expect("the file's time");
}

pub fn files_below(dir: &Path) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(dir).sort_by_file_name().into_iter().filter_map(Result::ok);
    all.filter(|e| e.file_type().is_file()).map(|e| e.into_path()).collect()
}

/// Copies a program that is to be started. `cp` does it, and not this process: a program that another test starts meanwhile would inherit the open copy,
/// and the system starts nothing that is open for writing.
pub fn copy_program(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").args([from, to]).status().expect("`cp` starts");
    assert!(copied.success(), "no copy of {} at {}", from.display(), to.display());
}

pub fn copy_tree(from: &Path, to: &Path) {
    for file in files_below(from) {
        let target = to.join(file.strip_prefix(from).expect("below"));
        fs::create_dir_all(target.parent().expect("a parent")).expect("a folder");
        fs::copy(&file, &target).expect("a copy");
    }
}

/// One `user` row.
pub fn user(session: &str, uuid: &str, at: &str, text: &str) -> String {
    let row = serde_json::json!({
        "type": "user", "uuid": uuid, "sessionId": session, "timestamp": at, "cwd": "/home/dev/src/shop", "version": "2.1.197",
        "gitBranch": "main", "message": {"role": "user", "content": text},
    });
    format!("{row}\n")
}

/// One `assistant` row with a text.
pub fn assistant(session: &str, uuid: &str, at: &str, text: &str) -> String {
    let row = serde_json::json!({
        "type": "assistant", "uuid": uuid, "sessionId": session, "timestamp": at, "cwd": "/home/dev/src/shop", "version": "2.1.197",
        "gitBranch": "main",
        "message": {"id": format!("msg_{uuid}"), "role": "assistant", "model": "claude-haiku-4-5-20251001",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 10, "output_tokens": 5}},
    });
    format!("{row}\n")
}

/// One `assistant` row with a list of tasks, none of them done.
pub fn tasks(session: &str, uuid: &str, at: &str, tasks: &[&str]) -> String {
    let todos: Vec<serde_json::Value> =
        tasks.iter().map(|task| serde_json::json!({"content": task, "status": "pending"})).collect();
    tool_use(session, uuid, at, &serde_json::json!({"name": "TodoWrite", "input": {"todos": todos}}))
}

/// The rows of a commit; their uuids end in `a` and `b`.
pub fn committed(session: &str, uuid: &str, at: &str, subject: &str) -> String {
    let printed = format!("[main abc1234] {subject}\n 1 file changed");
    ran(session, uuid, at, &format!("git commit -qam '{subject}'"), Ok(&printed))
}

/// The rows of a command with what it printed, which is an error if it failed; their uuids end in `a` and `b`.
pub fn ran(session: &str, uuid: &str, at: &str, command: &str, printed: Result<&str, &str>) -> String {
    let [used, answered] = ["a", "b"].map(|end| format!("{uuid}{end}"));
    let (text, failed) = (printed.unwrap_or_else(|error| error), printed.is_err());
    let result = serde_json::json!({
        "type": "user", "uuid": answered, "sessionId": session, "timestamp": at, "cwd": "/home/dev/src/shop", "version": "2.1.197",
        "gitBranch": "main", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("toolu_{used}"),
            "is_error": failed, "content": text}]},
    });
    let command = serde_json::json!({"name": "Bash", "input": {"command": command}});
    tool_use(session, &used, at, &command) + &format!("{result}\n")
}

/// The rows of an edit.
pub fn edited(session: &str, uuid: &str, at: &str, path: &str) -> String {
    let edit = serde_json::json!({"name": "Edit", "input": {"file_path": path, "old_string": "a", "new_string": "b"}});
    tool_use(session, uuid, at, &edit)
}

fn tool_use(session: &str, uuid: &str, at: &str, block: &serde_json::Value) -> String {
    let row = serde_json::json!({
        "type": "assistant", "uuid": uuid, "sessionId": session, "timestamp": at, "cwd": "/home/dev/src/shop", "version": "2.1.197",
        "gitBranch": "main", "message": {"id": format!("msg_{uuid}"), "role": "assistant", "content": [
            {"type": "tool_use", "id": format!("toolu_{uuid}"), "name": block["name"], "input": block["input"]}]},
    });
    format!("{row}\n")
}

/// A file with its bytes and its time.
pub type FileState = (PathBuf, Vec<u8>, SystemTime);

/// The files that differ, came or went between two looks.
pub fn changed(before: &[FileState], after: &[FileState]) -> Vec<PathBuf> {
    let only = |a: &[FileState], b: &[FileState]| a.iter().filter(|f| !b.contains(f)).map(|f| f.0.clone()).collect::<Vec<_>>();
    let mut all = [only(before, after), only(after, before)].concat();
    all.sort();
    all.dedup();
    all
}

/// What tests of reading, slices, pages and commands need beyond a plain run.
impl World {
    /// Runs a shell script in which `$RECALL` is `recall`.
    pub fn shell(&self, script: &str) -> Ran {
        let mut command = std::process::Command::new("/bin/sh");
        command.env_clear().envs(self.environment()).env("RECALL", env!("CARGO_BIN_EXE_recall")).current_dir(self.root());
        Ran::of(command.args(["-c", script]).output().expect("a shell"))
    }

    /// What `recall status --json` says.
    pub fn status(&self) -> serde_json::Value {
        let ran = self.recall(["status", "--json"]);
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))
    }

    /// What `recall show ID --json` says.
    pub fn show(&self, id: &str) -> serde_json::Value {
        let ran = self.recall(["show", id, "--json"]);
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))
    }

    /// All stored sessions, as `recall export` writes them.
    pub fn exported(&self) -> Vec<serde_json::Value> {
        let ran = self.recall(["export"]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran.out.lines().skip(1).map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
    }

    /// Id, text and whether it is done, of each stored note, in order.
    pub fn notes(&self) -> Vec<(String, String, bool)> {
        let text = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let notes = self.exported().into_iter().filter(|row| row["note"].is_string());
        let mut notes: Vec<_> = notes.map(|row| (text(&row, "note"), text(&row, "text"), row["closed_at"].is_number())).collect();
        notes.sort();
        notes
    }

    /// The texts of one kind of item (`prompt`, `reply` …) of one session, in order.
    pub fn texts(&self, session: &str, kind: &str) -> Vec<String> {
        let all = self.exported();
        let sources = all.iter().filter(|s| s["session"] == session).flat_map(|s| s["sources"].as_array().into_iter().flatten());
        let rows = sources.flat_map(|s| s["rows"].as_array().into_iter().flatten()).filter(|r| r["item"]["kind"] == kind);
        rows.map(|r| r["item"]["data"].as_str().map_or_else(|| r["item"]["data"].to_string(), str::to_owned)).collect()
    }

    /// Every file of the world with its bytes and its time, to see what a run leaves as it was.
    pub fn everything(&self) -> Vec<FileState> {
        let read = |file: PathBuf| {
            let time = fs::metadata(&file).and_then(|m| m.modified()).expect("a time");
            (file.clone(), fs::read(&file).expect("a file"), time)
        };
        files_below(self.root()).into_iter().map(read).collect()
    }
}

impl Ran {
    pub fn of(output: std::process::Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl World {
    /// `recall` as a process of its own, for tests that look or stop it while it runs.
    pub fn process(&self) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_recall"));
        command.env_clear().envs(self.environment()).current_dir(self.root());
        command
    }
}

/// What tests of the hooks need.
impl World {
    /// Runs `recall hook EVENT` with this on its stdin, as Claude Code does.
    pub fn hook(&self, event: &str, stdin: impl AsRef<[u8]>) -> Ran {
        let mut command = self.process();
        command.args(["hook", event]);
        fed(command, stdin.as_ref())
    }
}

/// Runs a command with this on its stdin, of which it may read as little as it likes.
pub fn fed(mut command: std::process::Command, stdin: &[u8]) -> Ran {
    use std::io::Write;
    use std::process::Stdio;
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("recall starts");
    let mut to = child.stdin.take().expect("its stdin");
    std::thread::scope(|scope| {
        scope.spawn(move || _ = to.write_all(stdin));
        Ran::of(child.wait_with_output().expect("its output"))
    })
}

/// All strings in a value, names included.
pub fn strings(value: &serde_json::Value, into: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => into.push(text.clone()),
        serde_json::Value::Array(all) => all.iter().for_each(|one| strings(one, into)),
        serde_json::Value::Object(all) => all.iter().for_each(|(name, one)| {
            into.push(name.clone());
            strings(one, into);
        }),
        _ => {}
    }
}
