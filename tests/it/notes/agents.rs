//! What an agent writes down is the agent's word: for its own project, with its name wherever it is shown; the rest is a person's.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::answers::answered;
use crate::support::{NOW, Ran, World, assistant, committed, user};

const SESSION: &str = "64b0b6d9-5ec0-4000-8000-000000000000";
const TEXT: &str = "Releases are cut from the zeppelin branch";
const CLAUDE: [(&str, &str); 2] = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", SESSION)];

/// A project of its own in the world.
fn repository(world: &World, name: &str) -> PathBuf {
    let folder = world.root().join(name).canonicalize().unwrap_or_else(|_| world.root().canonicalize().unwrap().join(name));
    fs::create_dir_all(folder.join(".git")).unwrap();
    folder
}

fn run_in(world: &World, folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> Ran {
    let output = world.process().current_dir(folder).envs(variables.iter().copied()).args(args).output().unwrap();
    Ran::of(output)
}

fn notes(world: &World) -> i64 {
    if world.data_dir().join("recall.db").exists() { world.count("SELECT count(*) FROM note") } else { 0 }
}

fn id_of(ran: &Ran) -> String {
    ran.out.split_whitespace().next().unwrap_or_else(|| panic!("{ran:#?}")).to_owned()
}

#[test]
fn a_note_of_an_agents_is_shown_as_its_own_everywhere() {
    let world = World::new();
    let shop = repository(&world, "shop");
    let ran = run_in(&world, &shop, &CLAUDE, &["remember", TEXT]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let id = id_of(&ran);
    world.digest(&["--summarizer", "extract"]);
    let by = "by Claude, session 64b0b6d9";
    let start = json!({"session_id": SESSION, "hook_event_name": "SessionStart", "source": "startup", "cwd": shop,
        "transcript_path": world.claude_dir().join(format!("projects/-shop/{SESSION}.jsonl"))});
    let prompt = json!({"session_id": SESSION, "hook_event_name": "UserPromptSubmit", "cwd": shop,
        "prompt": "Which branch are zeppelin releases cut from?",
        "transcript_path": world.claude_dir().join(format!("projects/-shop/{SESSION}.jsonl"))});
    let ways = [
        ("session start", world.hook("session-start", start.to_string()).out),
        ("prompt", world.hook("user-prompt-submit", prompt.to_string()).out),
        ("context", run_in(&world, &shop, &[], &["context"]).out),
        ("topic", run_in(&world, &shop, &[], &["context", "--about", "zeppelin releases"]).out),
        ("topic as JSON", run_in(&world, &shop, &[], &["context", "--about", "zeppelin releases", "--json"]).out),
        ("search", world.recall(["search", "zeppelin"]).out),
        ("search as JSON", world.recall(["search", "zeppelin", "--json"]).out),
        ("show", world.recall(["show", &id]).out),
        ("timeline", world.recall(["timeline", &id]).out),
        ("timeline as JSON", world.recall(["timeline", &id, "--json"]).out),
        ("day page", world.pages().into_iter().map(|(_, page)| page).collect()),
    ];
    for (way, text) in ways {
        assert!(text.contains("zeppelin branch") && text.contains(by), "{way}: {text}");
    }
    let started = world.hook("session-start", start.to_string().replace(SESSION, "aaaa0000-5ec0-4000-8000-000000000000")).out;
    assert!(started.contains("(by Claude, session 64b0b6d9, 21 Nov)"), "{started}");
    for (way, text) in [("show", world.recall(["show", &id, "--json"]).out), ("export", world.recall(["export"]).out)] {
        let line: Value =
            serde_json::from_str(text.lines().last().unwrap()).unwrap_or_else(|_| serde_json::from_str(&text).unwrap());
        assert_eq!(line["author"], json!({"by": "agent", "name": "Claude", "session": SESSION}), "{way}: {text}");
    }
}

#[test]
fn a_persons_note_is_the_users_and_one_from_before_says_that_nobody_knows() {
    let world = World::new();
    let shop = repository(&world, "shop");
    run_in(&world, &shop, &[], &["remember", TEXT]);
    run_in(&world, &shop, &[], &["remember", "The lagoon is closed to ferries in winter"]);
    let db = rusqlite::Connection::open(world.data_dir().join("recall.db")).unwrap();
    assert_eq!(db.execute("UPDATE note SET author = NULL WHERE text LIKE '%lagoon%'", []).unwrap(), 1);
    let told = run_in(&world, &shop, &[("RECALL_NOW", "2027-01-05T12:00:00Z")], &["context"]).out;
    assert!(told.contains(&format!("{TEXT} (by the user, 21 Nov 2026)")), "{told}");
    assert!(told.contains("in winter (author not recorded, 21 Nov 2026)"), "{told}");
}

#[test]
fn every_agent_is_known_by_what_it_gives_its_commands() {
    let world = World::new();
    let shop = repository(&world, "shop");
    for (at, (name, value, by)) in [
        ("CLAUDECODE", "1", "by Claude"),
        ("COPILOT_CLI", "1", "by Copilot"),
        ("GEMINI_SESSION_ID", "0b1c2d3e-1", "by Gemini, session 0b1c2d3e"),
        ("GEMINI_CLI", "1", "by Gemini"),
        ("QWEN_CODE_SESSION_ID", "aa11bb22-1", "by Qwen Code, session aa11bb22"),
        ("CODEX_THREAD_ID", "0199aaaa-1", "by Codex, session 0199aaaa"),
        ("CURSOR_AGENT", "1", "by Cursor"),
        ("OPENCODE", "1", "by OpenCode"),
        ("GOOSE_TERMINAL", "1", "by Goose"),
        ("AI_AGENT", "nestor", "by nestor"),
    ]
    .into_iter()
    .enumerate()
    {
        let ran = run_in(&world, &shop, &[(name, value)], &["remember", &format!("Valve number {at} sticks in the cold")]);
        let shown = world.recall(["show", &id_of(&ran)]).out;
        assert!(shown.contains(&format!(" · {by} · ")), "{name}: {shown}");
        let all = run_in(&world, &shop, &[(name, value)], &["remember", "--everywhere", TEXT]);
        assert!(all.code == 2 && all.err.contains("person"), "{name}: {all:#?}");
    }
    assert_eq!(notes(&world), 10);
}

#[test]
fn an_agent_of_any_client_writes_for_the_project_of_its_session_wherever_it_went() {
    const ID: &str = "01a2059c-b240-7761-a3ba-28ca785d3559";
    const PARENT: &str = "01a2059c-b240-7761-a3ba-28ca785d3558";
    let world = World::new();
    let (shop, other) = (repository(&world, "shop"), repository(&world, "other"));
    let codex = |id: &str, meta: serde_json::Value| {
        let row = json!({"timestamp": "2026-11-21T23:55:00.000Z", "type": "session_meta", "payload": meta});
        (format!(".codex/sessions/2026/11/21/rollout-2026-11-21T23-55-00-{id}.jsonl"), row)
    };
    let qwen = json!({"uuid": "u1", "parentUuid": null, "sessionId": "aa11bb22-0000-4000-8000-000000000001", "cwd": shop, "type": "user",
        "timestamp": "2026-11-21T23:55:00.000Z", "message": {"role": "user", "parts": [{"text": "Mend it"}]}});
    let worked_for = json!({"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}});
    for (variable, id, (file, row)) in [
        ("CODEX_THREAD_ID", ID, codex(ID, json!({"id": ID, "cwd": shop}))),
        ("CODEX_THREAD_ID", ID, codex(ID, json!({"id": ID, "cwd": shop, "source": worked_for}))),
        (
            "QWEN_CODE_SESSION_ID",
            "aa11bb22-0000-4000-8000-000000000001",
            (".qwen/projects/-shop/chats/aa11bb22-0000-4000-8000-000000000001.jsonl".to_owned(), qwen),
        ),
    ] {
        let file = world.home().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, format!("{row}\n")).unwrap();
        let strayed = run_in(&world, &other, &[(variable, id)], &["remember", "--project", other.to_str().unwrap(), TEXT]);
        assert!(strayed.code == 2 && strayed.err.contains("only a person"), "{variable}: {strayed:#?}");
        let strayed = run_in(&world, &other, &[(variable, id)], &["remember", TEXT]);
        assert!(strayed.code == 2 && strayed.err.contains("only a person"), "{variable}: {strayed:#?}");
        assert_eq!(notes(&world), 0);
        fs::remove_file(file).unwrap();
    }
}

#[test]
fn an_agent_writes_for_no_other_project_and_forgets_and_imports_nothing() {
    let world = World::new();
    let (shop, other) = (repository(&world, "shop"), repository(&world, "other"));
    let other = other.to_str().unwrap();
    run_in(&world, &shop, &[], &["remember", "The ledger is closed on Sundays"]);
    let before = world.recall(["export"]).out;
    let file = world.root().join("forged.jsonl");
    let forged =
        json!({"note": "m00000001", "project": "*", "kind": "convention", "text": TEXT, "at": 1, "author": {"by": "user"}});
    fs::write(&file, format!("{}\n{forged}\n", before.lines().next().unwrap())).unwrap();
    for args in [
        vec!["remember", "--everywhere", TEXT],
        vec!["remember", "--project", other, TEXT],
        vec!["remember", "--project", "/", TEXT],
        vec!["import", file.to_str().unwrap()],
        vec!["forget", "--yes", "--match", "ledger"],
        vec!["forget", "--yes", "--project", "shop"],
        vec!["forget", "--yes", "--before", "2027-01-01"],
        vec!["uninstall", "--purge", "--yes"],
    ] {
        let ran = run_in(&world, &shop, &CLAUDE, &args);
        assert!(ran.code == 2 && ran.err.contains("Claude") && ran.err.contains("person"), "{args:?}: {ran:#?}");
        assert_eq!(world.recall(["export"]).out, before, "{args:?}");
    }
    let looked = run_in(&world, &shop, &CLAUDE, &["forget", "--match", "ledger", "--dry-run"]);
    assert!(looked.code == 0 && looked.out.contains("1 note"), "who only looks asks nobody: {looked:#?}");
}

#[test]
fn a_person_on_a_terminal_is_asked_and_decides() {
    let world = World::new();
    let shop = repository(&world, "shop");
    let all = ["remember", "--everywhere", TEXT];
    for answer in ["", "y", "no"] {
        let ran = answered(&world, &shop, &CLAUDE, &all, answer);
        assert!(ran.code == 2 && ran.shown.contains("Claude") && notes(&world) == 0, "{answer}: {ran:#?}");
    }
    let ran = answered(&world, &shop, &CLAUDE, &all, "yes");
    assert!(ran.code == 0 && notes(&world) == 1, "{ran:#?}");
    let told = run_in(&world, &shop, &[], &["context"]).out;
    assert!(told.contains("(by Claude, session 64b0b6d9, 21 Nov)"), "{told}");
    // Who may do it, and whether it shall go.
    let forget = ["forget", "--match", "zeppelin"];
    assert!(answered(&world, &shop, &CLAUDE, &forget, "yes\nno").code == 2 && notes(&world) == 1);
    assert!(answered(&world, &shop, &CLAUDE, &forget, "yes\ny").code == 0 && notes(&world) == 0);
}

#[test]
fn the_project_is_the_sessions_wherever_the_agent_has_changed_to() {
    let world = World::new();
    let (shop, other) = (repository(&world, "shop"), repository(&world, "other"));
    let row = user(SESSION, "u1", "2026-11-20T10:00:00Z", "Mend it.").replace("/home/dev/src/shop", shop.to_str().unwrap());
    world.transcript(&format!("-shop/{SESSION}.jsonl"), row);
    let ran = run_in(&world, &other, &CLAUDE, &["remember", TEXT]);
    assert!(ran.code == 2 && ran.err.contains("person") && notes(&world) == 0, "{ran:#?}");
    let ran = run_in(&world, &other, &CLAUDE, &["remember", "--project", shop.to_str().unwrap(), TEXT]);
    assert_eq!((ran.code, notes(&world)), (0, 1), "{ran:#?}");
    // Of a session that is not there nothing is known but where it works.
    let ran = run_in(&world, &other, &[("CLAUDECODE", "1")], &["remember", TEXT]);
    assert_eq!((ran.code, notes(&world)), (0, 2), "{ran:#?}");
}

#[test]
fn an_agent_in_an_excluded_project_keeps_nothing() {
    let world = World::new();
    let clinic = repository(&world, "clinic");
    world.configure("[privacy]\nexclude_projects = [\"**/clinic\"]\n");
    for more in [vec![], vec!["--project", "/home/dev/src/shop"], vec!["--everywhere"]] {
        let ran = run_in(&world, &clinic, &CLAUDE, &[&["remember", TEXT][..], &more].concat());
        assert!(ran.code == 2 && ran.err.contains("excluded"), "{more:?}: {ran:#?}");
    }
    assert_eq!(notes(&world), 0);
}

#[test]
fn the_users_notes_come_first_and_what_the_user_says_too_is_the_users() {
    let world = World::new();
    let shop = repository(&world, "shop");
    let agents = run_in(&world, &shop, &CLAUDE, &["remember", "--kind", "convention", TEXT]);
    run_in(&world, &shop, &[], &["remember", "The ledger is closed on Sundays"]);
    let told = run_in(&world, &shop, &[], &["context"]).out;
    assert!(told.find("ledger").unwrap() < told.find("zeppelin").unwrap(), "{told}");
    // An agent that repeats the user changes nothing, and the user makes an agent's word the user's.
    let again = run_in(&world, &shop, &CLAUDE, &["remember", "The ledger is closed on Sundays."]);
    assert!(again.out.contains("already says this"), "{again:#?}");
    let mine = run_in(&world, &shop, &[], &["remember", TEXT]);
    assert_eq!((id_of(&mine), mine.out.contains("saved")), (id_of(&agents), true), "{mine:#?}");
    assert_eq!(run_in(&world, &shop, &[], &["context"]).out.matches("(by the user, 21 Nov)").count(), 2);
    assert_eq!(notes(&world), 2);
}

#[test]
fn what_is_to_be_done_is_closed_and_not_told_again() {
    let world = World::new();
    let (shop, other) = (repository(&world, "shop"), repository(&world, "other"));
    let todo = id_of(&run_in(&world, &shop, &[], &["remember", "--kind", "todo", "Renew the certificate of the zeppelin"]));
    let fact = id_of(&run_in(&world, &shop, &[], &["remember", "The lagoon is closed to ferries in winter"]));
    let told = || run_in(&world, &shop, &[], &["context"]).out;
    assert!(told().contains("certificate") && world.recall(["show", &todo]).out.contains(&format!("`recall close {todo}`")));
    assert!(run_in(&world, &shop, &[], &["close", &fact]).err.contains("not an open item"));
    let elsewhere = run_in(&world, &other, &CLAUDE, &["close", &todo]);
    assert!(elsewhere.code == 2 && elsewhere.err.contains("person") && told().contains("certificate"), "{elsewhere:#?}");

    let closed = run_in(&world, &shop, &CLAUDE, &["close", &todo[..6]]);
    assert_eq!((closed.code, closed.out), (0, format!("{todo} closed: Renew the certificate of the zeppelin\n")));
    assert!(!told().contains("certificate") && told().contains("lagoon"), "{}", told());
    for text in [world.recall(["show", &todo]).out, world.recall(["search", "certificate"]).out] {
        assert!(text.contains("done, by Claude, session 64b0b6d9"), "{text}");
    }
    let page: String = world.pages().into_iter().map(|(_, page)| page).collect();
    assert!(page.contains("~~Renew the certificate") && page.contains("done, by Claude"), "{page}");
    assert!(run_in(&world, &shop, &[], &["close", &todo]).out.contains("was closed already"));

    let target = World::new();
    let file = target.root().join("memory.jsonl");
    fs::write(&file, world.recall(["export"]).out).unwrap();
    assert_eq!(target.recall(["import", file.to_str().unwrap()]).code, 0);
    assert_eq!(target.recall(["export"]).out, world.recall(["export"]).out);

    // An agent takes an agent's word back, and not the user's.
    assert!(
        run_in(&world, &shop, &CLAUDE, &["close", "--undo", &todo]).out.contains("open again") && told().contains("certificate")
    );
    assert_eq!(run_in(&world, &shop, &[], &["close", &todo]).code, 0);
    let undone = run_in(&world, &shop, &CLAUDE, &["close", "--undo", &todo]);
    assert!(undone.code == 2 && undone.err.contains("closed by the user"), "{undone:#?}");
}

#[test]
fn a_next_step_that_an_agent_closed_says_so_on_its_page() {
    let world = World::new();
    let shop = repository(&world, "shop");
    let list = serde_json::json!({"type": "assistant", "uuid": "t", "sessionId": SESSION, "timestamp": "2026-11-20T10:01:00Z", "cwd": "/home/dev/src/shop",
        "version": "2.1.197", "gitBranch": "main", "message": {"id": "msg_t", "role": "assistant", "content": [{"type": "tool_use",
        "id": "toolu_t", "name": "TodoWrite", "input": {"todos": [{"content": "Move the exporter to the new queue", "status": "pending"}]}}]}});
    let rows = user(SESSION, "u1", "2026-11-20T10:00:00Z", "Mend the importer.")
        + &format!("{list}\n")
        + &assistant(SESSION, "a1", "2026-11-20T10:05:00Z", "The importer is mended.");
    let rows = rows.replace("/home/dev/src/shop", shop.to_str().unwrap());
    world.transcript(&format!("-shop/{SESSION}.jsonl"), rows);
    world.digest(&["--summarizer", "extract"]);
    let item: String = world.database().query_row("SELECT id FROM open_item", [], |r| r.get(0)).unwrap();
    let other = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "bbbb0000-5ec0-4000-8000-000000000000")];
    let ran = run_in(&world, &shop, &other, &["close", &item]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let page: String = world.pages().into_iter().map(|(_, page)| page).collect();
    assert!(page.contains("(done, by Claude, session bbbb0000, 2026-11-21)"), "{page}");
    let exported = world.exported();
    let closers = &exported[0]["closers"][&item];
    assert_eq!(closers["name"], "Claude", "{NOW}: {exported:#?}");
}

#[test]
fn an_agents_name_is_a_text_that_can_be_forgotten_and_what_it_wrote_stays() {
    let world = World::new();
    let shop = repository(&world, "shop");
    run_in(&world, &shop, &CLAUDE, &["remember", TEXT]);
    run_in(&world, &shop, &[("AI_AGENT", "zanzibarquux")], &["remember", "--kind", "todo", "Renew the certificate of the lagoon"]);
    let todo = id_of(&run_in(&world, &shop, &[], &["remember", "--kind", "todo", "Paint the hangar of the airship"]));
    run_in(&world, &shop, &[("AI_AGENT", "zanzibarquux")], &["close", &todo]);
    world.digest(&["--summarizer", "extract"]);
    let ran = run_in(&world, &shop, &[], &["forget", "--yes", "--match", "Zanzibarquux"]);
    assert!(ran.code == 0 && !ran.err.contains("still stands"), "{ran:#?}");
    crate::notes::assert_gone(&world, "zanzibarquux");
    let told = run_in(&world, &shop, &[], &["context"]).out;
    assert!(told.contains("lagoon (author not recorded,") && told.contains(TEXT) && !told.contains("airship"), "{told}");
}

#[test]
fn a_commit_that_names_what_is_to_be_done_closes_it_once() {
    let world = World::new();
    let (shop, other) = (repository(&world, "shop"), repository(&world, "other"));
    let earlier = [("RECALL_NOW", "2026-11-17T12:00:00Z")];
    let todo = id_of(&run_in(&world, &shop, &earlier, &["remember", "--kind", "todo", "Renew the certificate of the zeppelin"]));
    let fact = id_of(&run_in(&world, &shop, &earlier, &["remember", "The lagoon is closed to ferries in winter"]));
    let session = "44440000-0000-4000-8000-000000000000";
    let commit = |folder: &Path, id: &str, day: u32, subject: &str| {
        let at = |minute: u32| format!("2026-11-{day}T10:{minute:02}:00Z");
        let rows = user(id, &format!("{id}u"), &at(0), "Renew it.")
            + &committed(id, &format!("{id}k{day}"), &at(1), subject)
            + &assistant(id, &format!("{id}a{day}"), &at(2), "It is renewed.");
        rows.replace("/home/dev/src/shop", folder.to_str().expect("a UTF-8 path"))
    };
    let digest = || world.digest(&["--summarizer", "extract"]);
    let is_open = || run_in(&world, &shop, &[], &["close"]).out.contains(&todo);

    world.transcript("-other/o.jsonl", commit(&other, "55550000", 18, &format!("Renew the certificate ({todo})")));
    world.transcript("-shop/early.jsonl", commit(&shop, "33330000", 16, &format!("Renew the certificate ({todo})")));
    digest();
    assert!(is_open(), "neither a commit elsewhere nor one from before it was written closes it");

    let rows = commit(&shop, session, 18, &format!("Renew the certificate ({todo}), see {fact}"));
    world.transcript(&format!("-shop/{session}.jsonl"), &rows);
    digest();
    assert!(!is_open());
    let shown = world.recall(["show", &todo]).out;
    assert!(shown.contains("done, by Claude, session 44440000"), "{shown}");
    assert!(!world.recall(["show", &fact]).out.contains("done"), "a fact cannot be done");

    // Who opens it again keeps it open, though the session goes on.
    assert!(run_in(&world, &shop, &[], &["close", "--undo", &todo]).out.contains("open again"));
    let more = assistant(session, "a-later", "2026-11-18T11:00:00Z", "Anything else?");
    let more = more.replace("/home/dev/src/shop", shop.to_str().expect("a UTF-8 path"));
    world.transcript(&format!("-shop/{session}.jsonl"), rows + &more);
    digest();
    assert!(is_open());
}
