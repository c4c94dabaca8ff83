//! Day pages as resources.

use std::fs;

use serde_json::{Value, json};

use crate::support::World;
use crate::support::mcp_client::Peer;

#[test]
fn the_page_of_a_day_is_listed_and_read() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&[]);
    let mut peer = Peer::greet(&world);
    let listed = peer.ask("resources/list", json!({}));
    let [day] = &listed["resources"].as_array().expect("resources")[..] else { panic!("one day: {listed:#}") };
    assert_eq!(day["mimeType"], "text/markdown");
    assert!(listed.get("nextCursor").is_none(), "{listed:#}");
    let uri = day["uri"].as_str().expect("a URI");
    let read = peer.ask("resources/read", json!({"uri": uri}));
    let date = uri.strip_prefix("recall://day/").expect("a day's");
    let page = fs::read_to_string(world.daily().join(&date[..7]).join(format!("{date}.md"))).expect("the page");
    assert_eq!(read["contents"], json!([{"uri": uri, "mimeType": "text/markdown", "text": page}]));
    assert_eq!(day["size"].as_u64(), Some(page.len() as u64));
}

#[test]
fn many_days_are_listed_in_pages_newest_first() {
    let world = World::new();
    let first: jiff::civil::Date = "2026-03-01".parse().expect("a date");
    let days: Vec<_> = (0..120).map(|n| first.checked_add(jiff::Span::new().days(n)).expect("a day")).collect();
    for day in &days {
        let folder = world.daily().join(day.strftime("%Y-%m").to_string());
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(format!("{day}.md")), format!("# {day}\n")).expect("a page");
    }
    let mut peer = Peer::greet(&world);
    let (mut all, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let listed = peer.ask("resources/list", if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) });
        let names = listed["resources"].as_array().expect("resources").iter();
        all.extend(names.map(|r| r["uri"].as_str().expect("a URI").to_owned()));
        pages += 1;
        cursor = listed["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(all, days.iter().rev().map(|day| format!("recall://day/{day}")).collect::<Vec<_>>());
    assert_eq!(pages, 3);
}

#[test]
fn nothing_but_day_pages_can_be_read() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&[]);
    fs::write(world.root().join("secret.md"), "hush1").expect("a file");
    let month = world.daily().join("2026-12");
    fs::create_dir_all(&month).expect("a folder");
    std::os::unix::fs::symlink(world.root().join("secret.md"), month.join("2026-12-01.md")).expect("a link");
    let mut peer = Peer::greet(&world);
    for uri in [
        "recall://day/2026-12-01",
        "recall://day/2026-12-02",
        "recall://day/../recall.db",
        "recall://day/../../secret",
        "recall://day/%2e%2e/recall.db",
        "recall://day/2026-12-01.md",
        "recall://day/",
        "recall:///etc/passwd",
        "file:///etc/passwd",
        "/etc/passwd",
        "",
        "recall://day/2026-12-01/../../../secret.md",
    ] {
        let (_, why) = peer.refused("resources/read", json!({"uri": uri}));
        assert!(!why.contains("hush1") && !why.is_empty(), "{uri}: {why}");
    }
    let uris = peer.ask("resources/list", json!({})).to_string();
    assert!(!uris.contains("2026-12-01"), "a link is not listed: {uris}");
}

#[test]
fn what_a_page_says_does_nothing_to_who_shows_it() {
    let world = World::new();
    let folder = world.daily().join("2026-11");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("2026-11-17.md"), "red \x1b[31malert\x1b[0m \u{202e}txet\x07\n").expect("a page");
    let mut peer = Peer::greet(&world);
    let read = peer.ask("resources/read", json!({"uri": "recall://day/2026-11-17"}));
    assert_eq!(read["contents"][0]["text"], "red alert txet\n");
}
