//! Meaning beside words, where the server has the extension `vector` and both sides have the same model.

use serde_json::{Value, json};

use super::over_postgres::{consents, exchange, joined, team_of};
use crate::share::Member;
use crate::support::embeddings::{Does, Endpoint};
use crate::support::postgres::Postgres;
use crate::support::rows::Rows;

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// A team on a server that has the extension, or could have it. `.ci/install-servers` says where it comes from.
fn with_vectors(logins: &[&str]) -> Option<Postgres> {
    let server = team_of(logins)?;
    if server.admin("SELECT recall_team.has_meaning()").trim() != "t" {
        eprintln!("LEFT OUT: this PostgreSQL has no extension `vector`");
        return None;
    }
    Some(server)
}

fn session(member: &Member, n: usize, prompt: &str, reply: &str) {
    let mut rows = Rows::new(n);
    rows.user(json!(prompt));
    rows.assistant(reply);
    let text = rows.text.replace("/home/dev/src/shop", member.clone.to_str().unwrap());
    member.world.transcript(&format!("-shop/{}.jsonl", rows.id), text);
    member.world.digest(&EXTRACT);
}

/// The titles of what the server finds, and what is said beside them.
fn found(member: &Member, words: &str) -> (Vec<String>, String) {
    let ran = member.recall(&["search", "--team", "--json", words]);
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_team = lines.iter().filter(|hit| hit["team"].is_string());
    (of_team.map(|hit| hit["title"].as_str().unwrap().to_owned()).collect(), ran.err)
}

fn vectors_there(server: &Postgres) -> usize {
    server.admin("SELECT count(*) FROM recall_team.meaning").trim().parse().unwrap()
}

#[test]
fn what_others_said_in_other_words_is_found() {
    let Some(server) = with_vectors(&["anna", "ben"]) else { return };
    let (anna, ben, endpoint) = (joined(&server, "anna"), joined(&server, "ben"), Endpoint::start());
    session(&anna, 1, "Paint stripes on the banner", "The banner has stripes now.");
    session(&anna, 2, "Tidy the changelog of the shop", "The changelog is in order now.");
    ben.session(9);
    consents(&anna, "");
    exchange(&anna);
    assert_eq!(vectors_there(&server), 0, "she has no model");
    ben.world.configure(&endpoint.config());
    ben.world.digest(&EXTRACT);
    assert_eq!(found(&ben, "zebra").0, [""; 0]);
    // What is there already gets vectors, once; they are made of what is shared.
    endpoint.take_texts();
    consents(&anna, &endpoint.config());
    exchange(&anna);
    let texts = endpoint.take_texts();
    assert_eq!(vectors_there(&server), texts.len());
    assert!(texts.contains(&"Paint stripes on the banner".to_owned()), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains(anna.world.root().to_str().unwrap())), "{texts:?}");
    exchange(&anna);
    assert_eq!(endpoint.take_texts(), [""; 0]);
    let (titles, said) = found(&ben, "zebra");
    assert_eq!(titles.first().map(String::as_str), Some("Paint stripes on the banner"), "{said}");
    assert_eq!(found(&ben, "changelog").0.first().map(String::as_str), Some("Tidy the changelog of the shop"));
    // A model of another name is another model.
    ben.world.configure(&endpoint.config().replace("\"words\"", "\"others\""));
    ben.world.digest(&EXTRACT);
    assert_eq!(found(&ben, "zebra").0, [""; 0]);
    // One that fails costs meaning, and nothing else.
    ben.world.configure(&endpoint.config());
    endpoint.behave(Does::Say(500, b"no".to_vec()));
    let (titles, said) = found(&ben, "changelog");
    assert_eq!(titles, ["Tidy the changelog of the shop"]);
    assert!(said.contains("asked for words alone"), "{said}");
    // One that never answers keeps nobody from what has the words.
    ben.world.configure(&(endpoint.config() + "timeout_seconds = 1\n"));
    endpoint.behave(Does::Hang);
    let (titles, said) = found(&ben, "changelog");
    assert_eq!(titles, ["Tidy the changelog of the shop"]);
    assert!(said.contains("no vector in time"), "{said}");
    endpoint.behave(Does::Say(500, b"no".to_vec()));
    session(&anna, 3, "Mend the drawbridge", "The drawbridge is mended.");
    let told = exchange(&anna).out;
    assert!(told.contains("until later, found only by words"), "{told}");
    assert!(server.all_text().contains("drawbridge"));
    // What is not shared any more means nothing there.
    anna.world.configure("");
    exchange(&anna);
    assert_eq!(vectors_there(&server), 0);
}

#[test]
fn a_server_whose_extension_goes_and_comes_is_given_vectors_again() {
    let Some(server) = with_vectors(&["anna"]) else { return };
    let (anna, endpoint) = (joined(&server, "anna"), Endpoint::start());
    consents(&anna, &endpoint.config());
    session(&anna, 1, "Paint stripes on the banner", "The banner has stripes now.");
    exchange(&anna);
    let before = vectors_there(&server);
    assert!(before > 0);
    server.admin("DROP EXTENSION vector CASCADE");
    assert_eq!(exchange(&anna).out, "nothing new\n");
    let ran = anna.recall(&["team", "prepare", &server.address("postgres")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    exchange(&anna);
    assert_eq!(vectors_there(&server), before);
}
