//! The command line and the protocol give the same answer.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::mcp_client::Peer;
use crate::support::rows::Rows;
use crate::support::{World, assistant, user};

const A: &str = "aaaa1111";
const B: &str = "bbbb2222";

/// Two projects below the world's root, each a repository with a session that says the same but for what follows its name.
fn two_projects() -> World {
    let world = World::new();
    for (id, day, name, more) in [(A, 10, "alpha", ""), (B, 20, "beta", "sluice and gate, sluice and gate: the sluice again. ")] {
        let folder = world.root().join(name);
        fs::create_dir_all(folder.join(".git")).expect("a repository");
        let at = |minute: u32| format!("2026-11-{day:02}T10:{minute:02}:00Z");
        let rows = user(id, &format!("{id}u"), &at(0), "Which sluice feeds the mill?")
            + &assistant(
                id,
                &format!("{id}a"),
                &at(1),
                &format!("{more}The sluice at {name} feeds the mill; I left it at that for now."),
            );
        world.transcript(&format!("-p/{id}.jsonl"), rows.replace("/home/dev/src/shop", folder.to_str().expect("a path")));
    }
    world.digest(&["--summarizer", "extract"]);
    world
}

/// What the command line finds in a folder, and what it says beside it.
fn found_in(world: &World, folder: &Path, words: &[&str]) -> (Vec<String>, String) {
    let output = world.command().current_dir(folder).args(["search", "--json"]).args(words).output().expect("recall starts");
    let lines = String::from_utf8(output.stdout).expect("text");
    let id = |line: &str| serde_json::from_str::<Value>(line).expect("JSON")["session"].as_str().unwrap_or_default().to_owned();
    (lines.lines().map(id).collect(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn found_by_mcp(world: &World, folder: &Path, asked: Value) -> (Vec<String>, String) {
    let (found, text) = Peer::greet_in(world, folder).call("search", asked);
    let results = found["results"].as_array().expect("results").iter();
    (results.map(|one| one["id"].as_str().unwrap_or_default().to_owned()).collect(), text)
}

#[test]
fn the_project_of_whoever_asks_comes_first() {
    let world = two_projects();
    for (name, own, other) in [("alpha", A, B), ("beta", B, A)] {
        let folder = world.root().join(name);
        let wanted = [own.to_owned(), other.to_owned()];
        assert_eq!(found_in(&world, &folder, &["sluice"]).0, wanted, "{name}");
        assert_eq!(found_by_mcp(&world, &folder, json!({"query": "sluice"})).0, wanted, "{name}");
    }
}

#[test]
fn a_project_is_named_alike_as_option_filter_and_argument_and_an_unknown_one_is_named() {
    let world = two_projects();
    let root = world.root();
    let beta = root.join("beta");
    for name in ["beta", "bet", "BET", "b*a", beta.to_str().expect("a path")] {
        let all = [
            found_in(&world, root, &["sluice", "--project", name]).0,
            found_in(&world, root, &["sluice", &format!("project:{name}")]).0,
            found_by_mcp(&world, root, json!({"query": "sluice", "project": name})).0,
            found_by_mcp(&world, root, json!({"query": format!("sluice project:{name}")})).0,
        ];
        assert!(all.iter().all(|ids| ids == &[B]), "{name}: {all:?}");
    }
    let named = "no project is called `gamma`";
    for (ids, said) in [
        found_in(&world, root, &["sluice", "--project", "gamma"]),
        found_in(&world, root, &["sluice", "project:gamma"]),
        found_by_mcp(&world, root, json!({"query": "sluice", "project": "gamma"})),
    ] {
        assert!(ids.is_empty() && said.contains(named), "{ids:?} {said}");
    }
    let (_, text) = Peer::greet(&world).call("recall", json!({"topic": "sluice", "project": "gamma"}));
    assert!(text.contains(named), "{text}");
    assert!(!found_in(&world, root, &["sluice", "--project", "bet"]).1.contains("no project"));
}

#[test]
fn a_note_is_refused_where_no_project_is() {
    let world = World::new();
    let home = world.home();
    for folder in [home.as_path(), Path::new("/")] {
        let mut command = world.command();
        let output =
            command.current_dir(folder).args(["remember", "The gateway needs a blue certificate"]).output().expect("recall starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains("is not a project"), "{}: {said}", folder.display());
        let why = Peer::greet_in(&world, folder).fail("remember", json!({"text": "The gateway needs a blue certificate"}));
        assert!(why.contains("is not a project"), "{why}");
    }
    let named = world.recall(["remember", "--project", home.to_str().expect("a path"), "The gateway needs a blue certificate"]);
    assert_eq!(named.code, 0, "who names it means it: {named:?}");
}

#[test]
fn a_note_that_is_known_is_told_alike_with_its_own_author() {
    let world = two_projects();
    let alpha = world.root().join("alpha");
    for (everywhere, project, text) in [
        (&[][..], alpha.to_str().expect("a path"), "The gateway needs a blue certificate."),
        (&["--everywhere"][..], "all projects", "Answer in short sentences, whatever the question."),
    ] {
        let by_hand = || {
            let mut command = world.command();
            let output =
                command.current_dir(&alpha).args(["remember", "--json", text]).args(everywhere).output().expect("recall starts");
            serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
        };
        let kept = by_hand();
        assert_eq!(kept, json!({"id": kept["id"], "known": false, "project": project, "by": "by the user"}));
        let known = json!({"id": kept["id"], "known": true, "project": project, "by": "by the user"});
        assert_eq!(by_hand(), known);
        assert_eq!(Peer::greet_in(&world, &alpha).call("remember", json!({"text": text})).0, known);
    }
}

#[test]
fn what_is_closed_through_the_protocol_is_closed_on_the_page_of_its_day() {
    let world = World::new();
    let folder = world.root().join("alpha");
    fs::create_dir_all(folder.join(".git")).expect("a repository");
    let list = serde_json::json!({"type": "assistant", "uuid": "t", "sessionId": A, "timestamp": "2026-11-10T10:00:30Z", "cwd": "/home/dev/src/shop",
        "version": "2.1.197", "gitBranch": "main", "message": {"id": "msg_t", "role": "assistant", "content": [{"type": "tool_use",
        "id": "toolu_t", "name": "TodoWrite", "input": {"todos": [{"content": "Migrate the weir to the new gate", "status": "pending"}]}}]}});
    let rows = user(A, "u", "2026-11-10T10:00:00Z", "Mend the sluice of the mill.")
        + &format!("{list}\n")
        + &assistant(A, "a", "2026-11-10T10:01:00Z", "The sluice is mended.");
    world.transcript("-p/a.jsonl", rows.replace("/home/dev/src/shop", folder.to_str().expect("a path")));
    world.digest(&["--summarizer", "extract"]);
    let mut peer = Peer::greet_in(&world, &folder);
    let page = |peer: &mut Peer| {
        let read = peer.ask("resources/read", json!({"uri": "recall://day/2026-11-10"}));
        read["contents"][0]["text"].as_str().expect("a page").to_owned()
    };
    let open = page(&mut peer);
    let db = rusqlite::Connection::open(world.data_dir().join("recall.db")).expect("the index");
    let id: String = db.query_row("SELECT id FROM open_item", [], |r| r.get(0)).expect("an open item");
    drop(db);
    assert!(open.contains(&id), "{open}");
    peer.call("close", json!({"ids": [id]}));
    let closed = page(&mut peer);
    assert_ne!(closed, open, "it is not told as open any more");
    // As the command line leaves it.
    peer.call("close", json!({"ids": [id], "undo": true}));
    assert_eq!(page(&mut peer), open);
    assert_eq!(world.recall_with(["close", &id], &[]).code, 0);
    let by_hand = page(&mut peer);
    let without_author = |page: &str| page.lines().filter(|line| !line.contains("weir")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(without_author(&closed), without_author(&by_hand));
}

#[test]
fn a_session_of_which_only_a_subagent_is_known_lies_in_its_own_time() {
    let world = two_projects();
    let mut rows = Rows::new(0);
    rows.row(json!({"type": "assistant", "isSidechain": true, "agentId": "a1", "message": {"id": "m1", "role": "assistant",
        "content": [{"type": "text", "text": "The weir is older than the mill, as the chronicle of the valley tells."}]}}));
    world.transcript("-p/weir.jsonl", &rows.text);
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(found_in(&world, world.root(), &["weir"]).0.len(), 1, "it is found");
    assert_eq!(found_in(&world, world.root(), &["before:2026-10-20"]).0, Vec::<String>::new());
    assert!(found_in(&world, world.root(), &["before:2026-12-20", "weir"]).0.len() == 1);
}
