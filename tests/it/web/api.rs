//! The memory as JSON.

use serde_json::Value;

use super::{SHOP, shop};
use crate::support::web_client::WebServer;

fn json(server: &WebServer, address: &str) -> Value {
    let reply = server.get(&format!("api/v1/{address}"));
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")), "{address}: {}", reply.body);
    serde_json::from_str(&reply.body).unwrap_or_else(|e| panic!("{address}: {e}: {}", reply.body))
}

#[test]
fn each_address_replies_what_the_command_prints() {
    let world = shop();
    let server = WebServer::entered(&world, world.root());
    assert_eq!(json(&server, "sessions")["sessions"][0]["session"], SHOP);
    assert_eq!(json(&server, "search?q=order+list")["results"][0]["session"], SHOP);
    assert_eq!(json(&server, &format!("session/{SHOP}"))["session"], SHOP);
    assert_eq!(json(&server, &format!("timeline/{SHOP}"))["session"]["id"], SHOP);
    assert_eq!(json(&server, "open")[0]["items"][0]["text"], "Paint the gauge blue before the audit");
    assert_eq!(json(&server, "stats?since=2020-01-01")["total"]["sessions"], 1);
    assert_eq!(json(&server, "status")["sessions"], 1);
    assert_eq!(json(&server, "notes"), Value::Array(Vec::new()));
    assert!(json(&server, "context/topic?q=order+list")["text"].as_str().is_some_and(|text| text.contains("order list")));
    let prompt = json(&server, "context/prompt?q=What%20did%20we%20do%20about%20the%20order%20list%20last%20time%3F");
    assert!(prompt["text"].is_string() && prompt["sources"].is_array(), "{prompt}");
    let start = json(&server, "context/start?project=shop");
    assert!(start["text"].as_str().is_some_and(|text| text.contains("Paint the gauge blue")), "{start}");
    let printed: Value = serde_json::from_str(&world.recall(["show", SHOP, "--json"]).out).expect("JSON");
    assert_eq!(json(&server, &format!("session/{SHOP}")), printed);
}

#[test]
fn readers_of_claude_mem_find_their_addresses() {
    let world = shop();
    let file = world.root().join("token");
    let server = WebServer::start(&world, world.root(), &["--token-file", file.to_str().expect("UTF-8")]);
    let bearer = format!("Authorization: Bearer {}", std::fs::read_to_string(&file).expect("a token").trim());
    let found = server.send("GET", "/api/search?query=order", &[&bearer], "");
    assert!(found.status == 200 && found.body.contains(SHOP), "{found:?}");
    let told = server.send("GET", "/api/context/inject?project=shop", &[&bearer], "");
    assert!(told.status == 200 && told.body.contains("Paint the gauge blue"), "{told:?}");
}

#[test]
fn what_is_wrong_with_a_request_is_said() {
    let world = shop();
    let server = WebServer::entered(&world, world.root());
    for (address, words) in [
        ("sessions?agent=nobody", "no agent is called `nobody`"),
        ("stats?by=nothing", "cannot group by `nothing`"),
        ("session/ffff", "ffff"),
        ("context/start?project=nowhere", "no project is called `nowhere`"),
        ("sessions?since=never", "never"),
        ("sessions?limit=x", "limit"),
    ] {
        let reply = server.get(&format!("api/v1/{address}"));
        let error: Value = serde_json::from_str(&reply.body).expect("JSON");
        assert!(reply.status == 400 && error["error"].as_str().is_some_and(|text| text.contains(words)), "{reply:?}");
    }
}
