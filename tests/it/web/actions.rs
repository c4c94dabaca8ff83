//! What a browser can change.

use super::{SHOP, shop};
use crate::support::web_client::WebServer;
use crate::support::{World, assistant, user};

#[test]
fn an_open_item_is_closed() {
    let world = shop();
    let server = WebServer::entered(&world, world.root());
    assert!(server.get("open.html").body.contains("Paint the gauge blue"));
    let reply = server.submit("open.html", "do/close");
    assert_eq!(reply.status, 303, "{}", reply.body);
    assert!(!server.get("open.html").body.contains("Paint the gauge blue"));
    assert!(world.recall(["todo"]).err.contains("nothing is open"));
}

#[test]
fn a_reply_is_hidden_and_shown_again() {
    let world = shop();
    let server = WebServer::entered(&world, world.root());
    let page = format!("session/{SHOP}.html");
    let said = "The order list is sorted by key now.";
    let before = server.get(&page).body;
    assert!(before.matches(said).count() > 1, "{before}");
    let reply = server.submit(&page, "do/wrong");
    assert_eq!(reply.status, 303, "{}", reply.body);
    assert_eq!(server.get(&page).body.matches(said).count(), 0);
    assert!(!world.recall(["show", SHOP, "--full"]).out.contains(said));
    assert_eq!(server.submit(&page, "do/not-wrong").status, 303);
    assert_eq!(server.get(&page).body.matches(said).count(), before.matches(said).count());
}

#[test]
fn a_rule_is_kept_or_dismissed() {
    let world = World::new();
    for (n, at) in ["2026-11-18T10:00:00Z", "2026-11-19T10:00:00Z", "2026-11-20T10:00:00Z"].into_iter().enumerate() {
        let id = format!("aaaa111{n}-0000-4000-8000-000000000000");
        let said = "Add the export. Never paint the valve red. Always run the migration before the tests.";
        let rows = user(&id, &format!("1111111{n}-0000-4000-8000-000000000001"), at, said)
            + &assistant(&id, &format!("1111111{n}-0000-4000-8000-000000000002"), at, "The export is there.");
        world.transcript(&format!("-q/{id}.jsonl"), rows);
    }
    world.digest(&["--summarizer", "extract"]);
    let server = WebServer::entered(&world, world.root());
    let projects = server.get("projects.html").body;
    let project =
        projects.split("href=\"").skip(1).find_map(|rest| rest.split('"').next().filter(|link| link.starts_with("project/")));
    let project = project.expect("a project");
    assert!(server.get(project).body.contains("Never paint the valve red"), "{}", server.get(project).body);
    assert_eq!(server.submit(project, "do/keep-rule").status, 303);
    assert_eq!(server.submit(project, "do/dismiss-rule").status, 303);
    let left = world.recall(["rules", "--project", "*", "--json"]);
    let left: serde_json::Value = serde_json::from_str(&left.out).expect("JSON");
    assert_eq!((left["rules"].as_array().map(Vec::len), left["dismissed"].as_array().map(Vec::len)), (Some(0), Some(1)), "{left}");
    assert_eq!(world.count("SELECT count(*) FROM note"), 1);
}

#[test]
fn a_session_is_forgotten_after_a_question() {
    let world = shop();
    let server = WebServer::entered(&world, world.root());
    let question = server.get(&format!("forget/{SHOP}.html")).body;
    assert!(question.contains("cannot be undone"), "{question}");
    assert_eq!(server.get(&format!("session/{SHOP}.html")).status, 200, "a question changes nothing");
    let reply = server.submit(&format!("forget/{SHOP}.html"), "do/forget");
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert!(reply.body.contains("forgot 1 session whole"), "{}", reply.body);
    assert_eq!(server.get(&format!("session/{SHOP}.html")).status, 404);
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.count("SELECT count(*) FROM session"), 0);
}

#[test]
fn what_is_not_there_cannot_be_changed() {
    let world = shop();
    let server = WebServer::entered(&world, world.root());
    let word = server.get("open.html").field("do/close", "word");
    for (action, id) in [
        ("do/close", "n00000000"),
        ("do/wrong", "c00000000"),
        ("do/wrong", "ffff 1"),
        ("do/forget", "ffff"),
        ("do/forget", "aaaa1111"),
    ] {
        let reply = server.post(action, &format!("word={word}&id={}", id.replace(' ', "%20")), &[]);
        assert_eq!(reply.status, 409, "{action} {id}: {}", reply.body);
    }
    assert_eq!(server.get(&format!("session/{SHOP}.html")).status, 200);
}

#[test]
fn an_agent_has_to_ask() {
    let world = World::digested(&["decision"]);
    let ran = world.recall_with(["serve"], &[("CLAUDECODE", "1")]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("show the memory in a browser"), "{}", ran.err);
}
