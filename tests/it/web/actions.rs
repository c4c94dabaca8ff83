//! What a browser can change.

use super::{SHOP, shop};
use crate::support::World;
use crate::support::web_client::WebServer;

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
