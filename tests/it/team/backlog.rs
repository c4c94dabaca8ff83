//! A company's backlog: records of transcripts that lie anywhere, and the way of them to the server.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::over_postgres::{SHOP, consents, exchange, joined, team_of};
use crate::support::rows::{FOLDER, Rows};
use crate::support::{Ran, World, fed, files_below};

/// The transcripts of several people, as a company stores them, and a machine that makes records of them.
struct Storage {
    world: World,
}

impl Storage {
    fn new() -> Self {
        let storage = Self { world: World::new() };
        storage.write("projects.toml", &format!("\"/home/dev/src/shop\" = \"{SHOP}\"\n"));
        storage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.world.root().join("storage").join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.path(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    /// A session of somebody's, in the folder of their clients.
    fn session(&self, person: &str, n: usize, edit: impl Fn(&mut Rows)) -> PathBuf {
        let mut rows = Rows::new(n);
        rows.user(json!(format!("Mend part {n}, as the obelisk asks")));
        edit(&mut rows);
        rows.assistant(&format!("Part {n} is mended."));
        self.write(&format!("{person}/projects/{FOLDER}/{}.jsonl", rows.id), &rows.text)
    }

    fn folder(&self, person: &str) -> PathBuf {
        self.path(&format!("{person}/projects/{FOLDER}"))
    }

    /// The records of these paths.
    fn records(&self, paths: &[&Path]) -> Ran {
        let mut args = vec!["team", "records", "--projects"];
        let list = self.path("projects.toml");
        args.push(list.to_str().unwrap());
        args.extend(paths.iter().map(|path| path.to_str().unwrap()));
        self.world.recall_with(args, &[("TMPDIR", self.world.root().to_str().unwrap())])
    }

    /// The same of paths that can all be read.
    fn lines(&self, paths: &[&Path]) -> Vec<String> {
        let ran = self.records(paths);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
        ran.out.lines().map(str::to_owned).collect()
    }
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))
}

/// Kind and id of each, as `session 00000001`.
fn names(lines: &[String]) -> Vec<String> {
    let name = |line: Value| format!("{} {}", line["kind"].as_str().unwrap(), &line["id"].as_str().unwrap()[..8]);
    lines.iter().map(|line| name(parsed(line))).collect()
}

fn of_kind<'a>(lines: &'a [String], kind: &str) -> Vec<&'a String> {
    lines.iter().filter(|line| parsed(line)["kind"] == kind).collect()
}

#[test]
fn records_are_the_same_whatever_else_is_read() {
    let storage = Storage::new();
    let first = storage.session("anna", 1, |_| {});
    storage.session("anna", 2, |_| {});
    storage.session("ben", 3, |_| {});
    // A subagent of the first one's.
    let agent = fs::read_to_string(&first).unwrap().replace("\"type\":", "\"isSidechain\":true,\"agentId\":\"a1\",\"type\":");
    let agent = agent.replace("00000001-5ec0-4000-8000-0000000000", "00000001-5ec0-4000-9000-0000000000");
    let agent = storage.write(
        &format!("anna/projects/{FOLDER}/00000001-5ec0-4000-8000-000000000000/subagents/agent-a1.jsonl"),
        &agent.replace("\"sessionId\":\"00000001-5ec0-4000-9000", "\"sessionId\":\"00000001-5ec0-4000-8000"),
    );
    let (anna, ben) = (storage.folder("anna"), storage.folder("ben"));
    let all = storage.lines(&[&ben, &anna]);
    let wanted = (1..=3).flat_map(|n| [format!("session 0000000{n}"), format!("usage 0000000{n}")]);
    assert_eq!(names(&all), wanted.collect::<Vec<_>>());
    assert_eq!([storage.lines(&[&anna]), storage.lines(&[&ben])].concat(), all);
    assert_eq!(
        storage.lines(&[anna.parent().unwrap(), ben.parent().unwrap(), &anna]),
        all,
        "by the folder above, and no folder twice"
    );
    assert_eq!(storage.lines(&[&first]), all[..2], "one transcript");
    assert_eq!(storage.lines(&[&agent]), all[..2], "a subagent's stands for its session");
    assert_eq!(storage.lines(&[&anna.join("00000002-5ec0-4000-8000-000000000000.jsonl"), &first]), all[..4]);
    let one = parsed(&all[0]);
    assert_eq!((one["project"].as_str(), one["kind"].as_str()), (Some(SHOP), Some("session")));
    let keys: BTreeSet<&str> = one.as_object().unwrap().keys().map(String::as_str).collect();
    let chapter = include_str!("../../../docs/src/formats.md");
    let row = chapter.lines().find(|line| line.starts_with("| `recall team records`")).expect("a row");
    assert_eq!(keys, row.rsplit_once(" | ").unwrap().1.split('`').skip(1).step_by(2).collect());
    // Nothing of the user's is there before or after.
    assert!(!storage.world.data_dir().exists());
    assert!(files_below(&storage.world.claude_dir()).is_empty());
    let left: Vec<_> = fs::read_dir(storage.world.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("recall-")), "{left:?}");
}

#[test]
fn the_clock_and_the_own_memory_change_no_record_and_more_rows_give_a_higher_version() {
    let storage = Storage::new();
    let file = storage.session("anna", 1, |_| {});
    let before = storage.lines(&[&file]);
    // Another day, and a memory that has forgotten this session.
    storage.world.transcript(&format!("{FOLDER}/{}", file.file_name().unwrap().to_str().unwrap()), fs::read(&file).unwrap());
    storage.world.digest(&["--summarizer", "extract"]);
    let gone = storage.world.recall(["forget", "--yes", "--session", "00000001"]);
    assert_eq!(gone.code, 0, "{gone:#?}");
    storage.world.configure("[retention]\ndays = 1\n");
    let list = storage.path("projects.toml");
    let args = ["team", "records", file.to_str().unwrap(), "--projects", list.to_str().unwrap()];
    let later = storage.world.recall_with(args, &[("RECALL_NOW", "2029-01-01T12:00:00Z")]);
    assert_eq!(later.out.lines().collect::<Vec<_>>(), before, "{later:#?}");
    let version = parsed(&before[0])["version"].as_i64().unwrap();
    assert_eq!(version, 1_793_534_402_000, "2026-11-01T12:00:02Z, when its last record was written");
    storage.session("anna", 1, |rows| rows.assistant("One screw is left."));
    let grown = parsed(&storage.lines(&[&file])[0]);
    assert!(grown["version"].as_i64().unwrap() > version);
    assert!(grown["search"].as_str().unwrap().contains("One screw is left"), "{grown}");
}

#[test]
fn nothing_private_secret_or_excluded_is_in_a_record() {
    let storage = Storage::new();
    let key = format!("ghp_{}", "Zq3Wn8Xv2Lk9Jd5Rt7Yb1Mc4Hf6Gs0PaEuKo");
    storage.session("anna", 1, |rows| {
        rows.assistant(&format!("The token is {key}, the log lies in /home/dev/logs/a and /Users/eve/b."));
        rows.user(json!("<private>The zanzibar code</private> Go on, please"));
        rows.assistant("OPENSESAME-4711 opens /home/dev/src/shop/gate.rs.");
    });
    storage.session("ben", 2, |rows| rows.assistant("hushquartz"));
    let elsewhere = storage.session("carl", 3, |_| {});
    let text = fs::read_to_string(&elsewhere).unwrap();
    fs::write(&elsewhere, text.replace("/home/dev/src/shop", "/home/dev/src/clinic").replace("obelisk", "hushopal")).unwrap();
    storage.write("projects.toml", &format!("\"/home/dev/src\" = \"{SHOP}\"\n"));
    let paths = [storage.folder("anna"), storage.folder("ben"), storage.folder("carl")];
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let all = storage.records(&paths).out;
    assert!(["OPENSESAME-4711", "hushquartz", "hushopal"].iter().all(|word| all.contains(word)), "{all}");
    let ben = storage.path("ben").canonicalize().unwrap();
    storage.world.configure(&format!(
        "[[privacy.rules]]\nid = \"gate\"\npattern = \"OPENSESAME-[0-9]+\"\n[privacy]\nexclude_projects = [\"**/clinic\"]\nexclude_transcripts = [\"{}/**\"]\n",
        ben.display()
    ));
    let ran = storage.records(&paths);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.out.contains("is mended") && ran.out.contains("gate.rs"), "{ran:#?}");
    for word in [&key, "zanzibar", "OPENSESAME-4711", "hushquartz", "hushopal", "/home/", "/Users/"] {
        assert!(!ran.out.contains(word), "{word}: {ran:#?}");
    }
}

/// A record that both hold is the earlier one's, also where its repository is another.
#[test]
fn a_fork_that_goes_on_in_another_repository_has_its_own_records_only() {
    let storage = Storage::new();
    storage.write(
        "projects.toml",
        &format!("\"/home/dev/src/shop\" = \"{SHOP}\"\n\"/home/dev/src/bank\" = \"example.com/acme/bank\"\n"),
    );
    let first = storage.session("anna", 1, |rows| rows.assistant("The pagoda is painted."));
    let shared = fs::read_to_string(&first).unwrap();
    let mut rows = Rows::new(2);
    rows.user(json!("Go on in the bank"));
    rows.assistant("The minaret is built.");
    let session = |text: &str| text.replace("\"sessionId\":\"00000001", "\"sessionId\":\"00000002");
    let fork = (session(&shared) + &rows.text).replace("/home/dev/src/shop", "/home/dev/src/bank");
    storage.write(&format!("anna/projects/{FOLDER}/{}.jsonl", rows.id), &fork);
    let all = storage.lines(&[&storage.folder("anna")]);
    let sessions = of_kind(&all, "session");
    assert_eq!(sessions.len(), 2, "{all:#?}");
    let (bank, shop) = (sessions[0], sessions[1]);
    assert!(bank.contains("acme/bank") && bank.contains("minaret") && !bank.contains("pagoda"), "{all:#?}");
    assert!(shop.contains(SHOP) && shop.contains("pagoda"), "{all:#?}");
    let took = |line: &String| parsed(line)["body"]["usage"][0]["input"].as_u64();
    assert_eq!(of_kind(&all, "usage").into_iter().map(took).collect::<Vec<_>>(), [Some(10), Some(20)], "{all:#?}");
}

#[test]
fn sessions_of_folders_that_are_no_known_repository_are_left_out_and_counted() {
    let storage = Storage::new();
    storage.session("anna", 1, |_| {});
    storage.session("anna", 2, |_| {});
    // A folder in the repository, and a clone that is here and says what it is.
    let inside = storage.session("anna", 3, |_| {});
    let text = fs::read_to_string(&inside).unwrap();
    fs::write(&inside, text.replace("/home/dev/src/shop", "/home/dev/src/shop/crates/cart")).unwrap();
    let clone = storage.world.root().join("work/bank");
    fs::create_dir_all(clone.join(".git")).unwrap();
    fs::write(clone.join(".git/config"), "[remote \"origin\"]\n\turl = git@example.com:acme/bank\n").unwrap();
    let cloned = storage.session("anna", 4, |_| {});
    let text = fs::read_to_string(&cloned).unwrap();
    fs::write(&cloned, text.replace("/home/dev/src/shop", clone.to_str().unwrap())).unwrap();
    let all = storage.lines(&[&storage.folder("anna")]);
    let projects: Vec<String> =
        of_kind(&all, "session").into_iter().map(|line| parsed(line)["project"].as_str().unwrap().to_owned()).collect();
    assert_eq!(projects, ["example.com/acme/bank", SHOP, SHOP, SHOP]);
    storage.write("projects.toml", "\"/home/dev/src/shop/crates\" = \"example.com/acme/cart\"\n");
    let ran = storage.records(&[&storage.folder("anna")]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 4), "{ran:#?}");
    assert!(ran.err.contains("skipped 2 sessions of 1 folder"), "{ran:#?}");
    storage.write("projects.toml", "\"shop\" = \"git@example.com:acme/shop\"\n");
    assert_eq!(storage.records(&[&storage.folder("anna")]).code, 2);
}

#[test]
fn what_cannot_be_read_is_named_and_costs_nothing_else() {
    let storage = Storage::new();
    storage.session("anna", 1, |_| {});
    let broken = storage.session("anna", 2, |rows| rows.text += "{\"type\":\"user\",\"mess\n");
    let whole = storage.lines(&[&storage.session("ben", 3, |_| {})]);
    let gone = storage.path("nobody");
    let ran = storage.records(&[&storage.folder("anna"), &gone, &storage.folder("ben")]);
    assert_eq!((ran.code, ran.out.lines().count()), (1, 6), "{ran:#?}");
    assert!(ran.out.lines().any(|line| line == whole[0]), "{ran:#?}");
    for path in [broken.canonicalize().unwrap(), gone] {
        assert!(ran.err.contains(path.to_str().unwrap()), "{}: {ran:#?}", path.display());
    }
}

#[test]
fn what_sessions_took_comes_from_a_backlog_as_from_an_exchange() {
    let Some(server) = team_of(&["anna", "backfill"]) else { return };
    let anna = joined(&server, "anna");
    (1..=2).for_each(|n| anna.session(n));
    // Nothing was asked in it, so that it has no digest; what it took is told all the same.
    let mut rows = Rows::new(3);
    rows.row(json!({"type": "assistant", "message": {"id": "msg_3", "role": "assistant", "model": "claude-haiku-4-5-20251001",
        "content": [], "usage": {"input_tokens": 70, "output_tokens": 1}}}));
    let text = rows.text.replace("/home/dev/src/shop", anna.clone.to_str().unwrap());
    anna.world.transcript(&format!("-shop/{}.jsonl", rows.id), text);
    anna.world.digest(&["--summarizer", "extract"]);
    consents(&anna, "");
    exchange(&anna);

    let projects = anna.world.claude_dir().join("projects");
    let ran = anna.recall(&["team", "records", projects.to_str().unwrap()]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    let lines: Vec<String> = ran.out.lines().map(str::to_owned).collect();
    assert_eq!(names(&lines), ["session 00000001", "usage 00000001", "session 00000002", "usage 00000002", "usage 00000003"]);
    for line in of_kind(&lines, "usage") {
        let line = parsed(line);
        let id = line["id"].as_str().unwrap();
        let there = server.admin(&format!("SELECT body FROM recall_team.record WHERE kind = 'usage' AND id = '{id}'"));
        assert_eq!((&line["body"], line["search"].as_str()), (&parsed(&there), Some("")), "{line}");
        let session = lines.iter().map(|line| parsed(line)).find(|one| one["kind"] == "session" && one["id"] == id);
        assert!(session.is_none_or(|session| session["version"] == line["version"]), "{lines:#?}");
    }

    let file = anna.world.root().join("records.jsonl");
    fs::write(&file, &ran.out).unwrap();
    let push = |login: &str| anna.recall(&["team", "push", &server.address(login), file.to_str().unwrap()]).out;
    let sums = || {
        let ran = anna.recall(&["stats", "--team", "--by", "author", "--json"]);
        let rows = parsed(&ran.out)["rows"].clone();
        let row = |row: &Value| (row["name"].as_str().unwrap().to_owned(), row["sessions"].as_u64(), row["input"].as_u64());
        rows.as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    let of_anna = sums();
    assert_eq!((of_anna.len(), of_anna[0].1), (1, Some(3)));
    assert_eq!(push("anna"), "stored 5, unchanged 0, refused 0\n");
    assert_eq!(sums(), of_anna, "what two machines of hers shared counts once");
    assert_eq!(push("backfill"), "stored 5, unchanged 0, refused 0\n");
    assert_eq!(sums().iter().map(|row| (row.1, row.2)).collect::<Vec<_>>(), [(of_anna[0].1, of_anna[0].2); 2]);
}

#[test]
fn records_that_are_pushed_twice_are_there_once() {
    let Some(server) = team_of(&["anna"]) else { return };
    let storage = Storage::new();
    (1..=3).for_each(|n| _ = storage.session("anna", n, |_| {}));
    let lines = storage.lines(&[&storage.folder("anna")]).join("\n");
    let file = storage.write("records.jsonl", &lines);
    let address = server.address("anna");
    let push = |more: &[&str]| storage.world.recall([&["team", "push", &address, file.to_str().unwrap()], more].concat());
    assert_eq!(push(&[]).out, "stored 6, unchanged 0, refused 0\n");
    let again = push(&[]);
    assert_eq!((again.code, again.out.as_str()), (0, "stored 0, unchanged 6, refused 0\n"), "{again:#?}");
    assert!(server.all_text().contains("obelisk"));
    // Another machine's are its own.
    assert_eq!(push(&["--machine", "cluster"]).out, "stored 6, unchanged 0, refused 0\n");
    // Over standard input, with the address before it; what is no record and what is refused keeps nothing else from being pushed.
    let strange = lines.lines().next().unwrap().replace(SHOP, "example.com/acme/bank");
    storage.session("anna", 1, |rows| rows.assistant("One screw is left."));
    let grown = storage.lines(&[&storage.folder("anna")]).join("\n");
    let mut command = storage.world.process();
    command.args(["team", "push", "-"]);
    let ran = fed(command, format!("{address}\n{strange}\n\n{{\"id\": 1}}\n{grown}\n").as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (1, "stored 2, unchanged 4, refused 2\n"), "{ran:#?}");
    assert!(ran.err.contains("example.com/acme/bank") && ran.err.contains("line 3: it is no record"), "{ran:#?}");
    assert!(server.all_text().contains("One screw is left"));
    let stranger = storage.world.recall(["team", "push", &server.address("nobody"), file.to_str().unwrap()]);
    assert_eq!((stranger.code, stranger.out.as_str()), (2, ""), "{stranger:#?}");
}
