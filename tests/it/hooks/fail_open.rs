//! Whatever goes wrong, the client goes on: exit code 0, nothing on stdout, soon, and one line in the log.
//!
//! Elapsed time is looked at here, and only here: patience is what these failures would cost.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::hooks::payloads::{S, end, ends, log, mark_files, marks, patient, starts, told};
use crate::hooks::prompt::says;
use crate::support::{Ran, World, fed};

/// Far more than a hook takes, and less than a library's own patience or an input that never ends.
const SOON: Duration = Duration::from_secs(5);

pub fn hook(world: &World, event: &str) -> Command {
    let mut command = world.process();
    command.args(["hook", event]);
    command
}

/// The process ended as every hook must.
pub fn is_silent(case: &str, started: Instant, ran: &Ran) {
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{case}: {ran:#?}");
    assert!(started.elapsed() < SOON, "{case}: took {:?}", started.elapsed());
}

/// It fails like that, and the log has one line more, which names the event and says this.
pub fn fails_open(world: &World, event: &str, stdin: &[u8], why: &str) {
    let before = log(world).len();
    let started = Instant::now();
    let ran = fed(hook(world, event), stdin);
    is_silent(why, started, &ran);
    let lines = log(world);
    assert_eq!(lines.len(), before + 1, "{event}, {why}: {lines:#?}");
    let (at, rest) = lines[before].split_once(' ').expect("a time");
    assert_eq!(at, "2026-11-21T12:00:00Z");
    assert!(rest.starts_with(&format!("{event}: ")) && rest.contains(why), "{event}, {why}: {rest}");
    assert_eq!(mark_files(world).len(), 0, "{event}, {why}");
}

/// An index of one session of the shop's.
pub fn with_notes() -> World {
    let world = World::with_fixtures(&["plain"]);
    patient(&world);
    world.digest(&["--summarizer", "extract"]);
    world
}

pub fn start(world: &World) -> Vec<u8> {
    starts(world, S, "startup").to_string().into_bytes()
}

#[test]
fn input_that_is_none() {
    let world = with_notes();
    let huge = json!({"hook_event_name": "PostCompact", "compact_summary": "x".repeat(9 << 20)}).to_string();
    let deep = "[".repeat(200_000);
    let cases: [(&str, &[u8]); 13] = [
        ("not JSON", b""),
        ("not JSON", b"\n"),
        ("not JSON", b"{"),
        ("not JSON", b"session_id: 5"),
        ("not JSON", b"{\"session_id\": \"a\"} {"),
        ("not JSON", b"\xff\xfe{\x00}\x00"),
        ("not JSON", b"{\"session_id\": \"\xc3\x28\", \"hook_event_name\": \"Stop\"}"),
        ("not JSON", deep.as_bytes()),
        ("not JSON", huge.as_bytes()),
        ("not a JSON object", b"[1, 2]"),
        ("not a JSON object", b"null"),
        ("not a JSON object", b"\"SessionEnd\""),
        ("not a JSON object", b"7"),
    ];
    for event in ["session-start", "user-prompt-submit", "session-end", "post-compact"] {
        for (why, stdin) in cases {
            fails_open(&world, event, stdin, why);
        }
    }
    // Keys of types nobody expects are no Claude Code's, which is no failure.
    let odd = json!({"session_id": {}, "transcript_path": [], "cwd": 7, "hook_event_name": "SessionEnd", "reason": []});
    let before = log(&world).len();
    is_silent("odd types", Instant::now(), &world.hook("session-end", odd.to_string()));
    assert_eq!(log(&world).len(), before);
}

#[test]
fn arguments_that_are_none() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let long = "x".repeat(10_000);
    for word in ["nonsense", "--version", "", "SessionEnd", "session-end ", long.as_str(), "\u{1b}[31mred\nline"] {
        let before = log(&world).len();
        let started = Instant::now();
        let ran = fed(hook(&world, word), ends(&world, S, "other").to_string().as_bytes());
        is_silent(word, started, &ran);
        let lines = log(&world);
        assert_eq!(lines.len(), before + 1, "{word}: {lines:#?}");
        assert!(word == long || lines[before].contains("is no event that recall knows"), "{lines:#?}");
        let name: String = word.trim_end().chars().take(5).collect();
        assert!(word.contains('\n') || lines[before].contains(&name), "{lines:#?}");
        assert!(lines[before].len() < 600 && !lines[before].contains('\u{1b}'), "{lines:#?}");
    }
    let mut none = world.process();
    none.arg("hook");
    let mut foreign = world.process();
    foreign.arg("hook").arg(std::ffi::OsStr::from_bytes(b"\xff\xfe"));
    for command in [none, foreign] {
        let before = log(&world).len();
        is_silent("no word", Instant::now(), &fed(command, b"{}"));
        assert_eq!(log(&world).len(), before + 1);
    }
    // What follows the event is not for us to judge.
    let mut more = hook(&world, "session-end");
    more.args(["--verbose", "\u{1b}"]);
    is_silent("more words", Instant::now(), &fed(more, ends(&world, S, "other").to_string().as_bytes()));
    assert_eq!(marks(&world).len(), 1);
}

#[test]
fn who_asks_for_help_gets_it_and_no_failure_is_noted() {
    let world = World::new();
    for words in [vec!["--help"], vec!["-h"], vec!["help"], vec!["session-end", "--help"]] {
        let mut command = world.process();
        command.arg("hook").args(&words);
        let ran = fed(command, ends(&world, S, "other").to_string().as_bytes());
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        assert!(ran.out.contains("recall hook <EVENT>") && ran.out.contains("session-start, user-prompt-submit"), "{}", ran.out);
        assert!(ran.err.is_empty() && marks(&world).is_empty(), "{words:?}: {ran:?}");
    }
    assert!(!world.data_dir().join("hooks.log").exists(), "{:#?}", log(&world));
}

#[test]
fn an_index_that_cannot_be_used() {
    let path = |world: &World| world.data_dir().join("recall.db");
    let newer = |world: &World| {
        let db = rusqlite::Connection::open(path(world)).unwrap();
        db.pragma_update(None, "user_version", 99).unwrap();
    };
    type Break<'a> = (&'a str, &'a dyn Fn(&World));
    let breaks: [Break<'_>; 7] = [
        ("no index", &|world| {
            fs::remove_file(path(world)).unwrap();
            for copy in ["recall.db.copy", "recall.db.copy-checked"] {
                fs::remove_file(world.data_dir().join(copy)).unwrap();
            }
        }),
        ("it is gone", &|world| fs::remove_file(path(world)).unwrap()),
        ("newer", &newer),
        ("it is empty", &|world| fs::write(path(world), "").unwrap()),
        ("is damaged", &|world| fs::write(path(world), "this is no database ".repeat(1000)).unwrap()),
        ("malformed", &|world| {
            let bytes = fs::read(path(world)).unwrap();
            fs::write(path(world), [&bytes[..4096], &vec![0xAA; bytes.len() - 4096]].concat()).unwrap();
        }),
        ("is a folder", &|world| {
            fs::remove_file(path(world)).unwrap();
            fs::create_dir(path(world)).unwrap();
        }),
    ];
    for (why, break_it) in breaks {
        let world = with_notes();
        break_it(&world);
        for source in ["startup", "clear"] {
            fails_open(&world, "session-start", starts(&world, S, source).to_string().as_bytes(), why);
        }
        // A prompt says less of it: the start has told where there is none, or it is of another form.
        let quiet = matches!(why, "newer") || !path(&world).exists();
        let asks = says(&world, S, "Where did we leave off on the keyset pagination?").to_string();
        if quiet {
            is_silent(why, Instant::now(), &world.hook("user-prompt-submit", asks));
        } else {
            fails_open(&world, "user-prompt-submit", asks.as_bytes(), why);
        }
        // A mark does not need it.
        fs::remove_file(world.data_dir().join("hooks.log")).unwrap();
        end(&world, S);
        assert_eq!(marks(&world).len(), 1, "{why}");
    }
}

#[test]
fn an_index_that_another_process_holds() {
    let world = with_notes();
    let path = world.data_dir().join("recall.db");
    let held = rusqlite::Connection::open(&path).unwrap();
    held.pragma_update(None, "locking_mode", "EXCLUSIVE").unwrap();
    held.execute_batch("BEGIN EXCLUSIVE; UPDATE session SET page_dirty = page_dirty;").unwrap();
    fails_open(&world, "session-start", &start(&world), "locked");
    let asks = says(&world, S, "Where did we leave off on the keyset pagination?").to_string();
    fails_open(&world, "user-prompt-submit", asks.as_bytes(), "locked");
    end_beside_the_log(&world);
    held.execute_batch("ROLLBACK").unwrap();
    drop(held);
    fs::remove_file(world.data_dir().join("hooks.log")).unwrap();
    assert!(told(&world, &starts(&world, S, "startup")).is_some(), "and when it is let go, all is well");
}

fn end_beside_the_log(world: &World) {
    let started = Instant::now();
    is_silent("an end", started, &world.hook("session-end", ends(world, S, "other").to_string()));
    assert_eq!(mark_files(world).len(), 1);
}

#[test]
fn a_digest_that_writes_keeps_no_session_waiting() {
    let world = with_notes();
    let writer = rusqlite::Connection::open(world.data_dir().join("recall.db")).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE; DELETE FROM digest;").unwrap();
    let text = told(&world, &starts(&world, S, "startup")).expect("what held before");
    assert!(text.contains("keyset"), "{text}");
}

#[test]
fn settings_that_cannot_be_read() {
    let world = with_notes();
    for text in ["[hooks\n", "colour = true\n", "[hooks]\nmax_inject_tokens = \"many\"\n", "[hooks]\ndeadline_ms = 0\n"] {
        world.configure(text);
        fails_open(&world, "session-start", &start(&world), "config.toml:");
        fails_open(&world, "session-end", ends(&world, S, "other").to_string().as_bytes(), "config.toml:");
    }
    world.configure("");
    let mut command = hook(&world, "session-end");
    command.env("RECALL_CONFIG", "/no/such/file");
    is_silent("a config file that is named and not there", Instant::now(), &fed(command, &start(&world)));
    let mut command = hook(&world, "session-end");
    command.env("RECALL_NOW", "yesterday");
    is_silent("no time", Instant::now(), &fed(command, &start(&world)));
    let lines = log(&world);
    assert!(lines[lines.len() - 2].contains("/no/such/file") && lines[lines.len() - 1].contains("RECALL_NOW"), "{lines:#?}");
}

#[test]
fn a_data_folder_that_is_none() {
    let world = World::new();
    fs::write(world.data_dir(), "a file").unwrap();
    for (event, stdin) in
        [("session-end", ends(&world, S, "other").to_string()), ("session-start", starts(&world, S, "startup").to_string())]
    {
        is_silent(event, Instant::now(), &world.hook(event, stdin));
    }
    assert_eq!(fs::read_to_string(world.data_dir()).unwrap(), "a file");

    for taken in ["marks", "marks/new", "marks/tmp"] {
        let world = World::new();
        let file = world.data_dir().join(taken);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "a file").unwrap();
        let stdin = ends(&world, S, "other").to_string();
        is_silent(taken, Instant::now(), &world.hook("session-end", stdin));
        assert!(log(&world).len() == 1 && log(&world)[0].contains("session-end: cannot leave a mark"), "{:?}", log(&world));
    }
    let world = with_notes();
    fs::create_dir_all(world.data_dir().join("marks")).unwrap();
    fs::write(world.data_dir().join("marks/started"), "a file").unwrap();
    fails_open(&world, "session-start", &start(&world), "marks/started");
    let asks = says(&world, S, "Where did we leave off on the keyset pagination?").to_string();
    fails_open(&world, "user-prompt-submit", asks.as_bytes(), "marks/started");
    // What cannot be noted would be said again and again.
    fs::remove_file(world.data_dir().join("marks/started")).unwrap();
    fs::write(world.data_dir().join("marks/told"), "a file").unwrap();
    fails_open(&world, "user-prompt-submit", asks.as_bytes(), "marks/told");
    // Where even the log cannot be written, nothing is left to be done.
    fs::remove_file(world.data_dir().join("hooks.log")).unwrap();
    fs::create_dir(world.data_dir().join("hooks.log")).unwrap();
    is_silent("no log", Instant::now(), &fed(hook(&world, "session-start"), b"{"));
}

#[test]
fn a_home_that_is_none() {
    for home in [None, Some("")] {
        for event in ["session-end", "session-start", "nonsense"] {
            let world = World::new();
            let before = world.everything();
            let homeless = |mut command: Command| {
                match home {
                    None => command.env_remove("HOME"),
                    Some(value) => command.env("HOME", value),
                };
                command
            };
            let mut nowhere = homeless(hook(&world, event));
            nowhere.env_remove("RECALL_DATA_DIR");
            is_silent("no home and no data folder", Instant::now(), &fed(nowhere, ends(&world, S, "other").to_string().as_bytes()));
            assert_eq!(crate::support::changed(&before, &world.everything()), Vec::<std::path::PathBuf>::new());

            // Where every path is given nothing is looked for below a home.
            let config = world.root().join("config.toml");
            fs::write(&config, "").unwrap();
            let mut given = homeless(hook(&world, event));
            given.env("RECALL_CONFIG", &config);
            is_silent("all paths", Instant::now(), &fed(given, ends(&world, S, "other").to_string().as_bytes()));
            let left = usize::from(event == "session-end");
            assert_eq!((log(&world).len(), mark_files(&world).len()), (usize::from(event == "nonsense"), left), "{event}");
            let _ = fs::remove_dir_all(world.data_dir());

            let somewhere = homeless(hook(&world, event));
            is_silent("no home", Instant::now(), &fed(somewhere, ends(&world, S, "other").to_string().as_bytes()));
            assert_eq!((log(&world).len(), mark_files(&world).len()), (1, 0), "{event}: {:?}", log(&world));
        }
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "the fault is built into debug builds only")]
fn a_panic() {
    let world = with_notes();
    let payloads = [
        ("session-end", ends(&world, S, "other").to_string().into_bytes()),
        ("session-start", start(&world)),
        ("user-prompt-submit", says(&world, S, "Where did we leave off?").to_string().into_bytes()),
    ];
    // Before anything is read, and in the midst of the work.
    for (fault, (event, payload)) in ["hook-panic", "hook-panic-inside"].iter().flat_map(|f| payloads.iter().map(move |p| (f, p))) {
        let mut command = hook(&world, event);
        command.env("RECALL_FAULT", fault);
        let before = log(&world).len();
        let started = Instant::now();
        is_silent(event, started, &fed(command, payload));
        let lines = log(&world);
        assert!(lines.len() == before + 1 && lines[before].contains(&format!("{event}: panicked")), "{fault}: {lines:#?}");
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "the fault is built into debug builds only")]
fn something_that_hangs() {
    let world = with_notes();
    world.configure("[hooks]\ndeadline_ms = 300\n");
    let prompt = says(&world, S, "Where did we leave off on the keyset pagination?").to_string().into_bytes();
    for (event, stdin) in [("session-start", start(&world)), ("user-prompt-submit", prompt)] {
        let mut command = hook(&world, event);
        command.env("RECALL_FAULT", "hook-hang");
        let before = log(&world).len();
        let started = Instant::now();
        is_silent(event, started, &fed(command, &stdin));
        let lines = log(&world);
        assert!(lines.len() == before + 1 && lines[before].contains(&format!("{event}: not done within")), "{lines:#?}");
    }
}
