//! What the server has from an older data folder of somebody's, and how it goes.

use std::fs;

use serde_json::{Value, json};

use super::over_postgres::{SHOP, consents, exchange, joined, remember, status, team_of};

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

#[test]
fn what_another_installation_shared_is_listed_forgotten_with_what_is_forgotten_here_and_withdrawn_by_name() {
    let Some(server) = team_of(&["anna", "ben"]) else { return };
    let anna = joined(&server, "anna");
    (1..=2).for_each(|n| anna.session(n));
    consents(&anna, "");
    remember(&anna, "The obelisk is the staging host");
    exchange(&anna);
    fs::remove_dir_all(anna.world.data_dir()).unwrap();
    anna.world.digest(&EXTRACT);
    assert_eq!(anna.recall(&["team", "join", &server.address("anna")]).code, 0);
    exchange(&anna);
    let now = status(&anna);
    let elsewhere = |now: &Value| now["installations"][0]["shared"].as_array().cloned().unwrap_or_default();
    let texts: Vec<String> = elsewhere(&now).iter().map(|one| one["text"].as_str().unwrap().to_owned()).collect();
    for text in ["The obelisk is the staging host", "Mend part 1", "Mend part 2"] {
        assert!(texts.iter().any(|one| one == text), "{text}: {now:#}");
    }
    assert_eq!(now["projects"][0]["shared"].as_array().unwrap().len(), 5, "two sessions, what they took, and a cure: {now:#}");
    let name = now["installations"][0]["name"].as_str().unwrap().to_owned();
    let told = anna.recall(&["team", "status"]).out;
    assert!(
        told.contains("from another installation of yours") && told.contains(&format!("team withdraw {}", &name[..12])),
        "{told}"
    );
    // Of Ben's, it lists and withdraws nothing.
    let ben = joined(&server, "ben");
    assert_eq!(status(&ben)["installations"], Value::Null);
    assert_eq!(ben.recall(&["team", "withdraw", &name]).code, 2);
    ben.session(9);
    let found = ben.recall(&["search", "--team", "Mend part 2"]).out;
    assert_eq!(found.matches("session 00000002").count(), 1, "once, whoever shared it twice: {found}");
    // What is forgotten here is forgotten there.
    assert_eq!(anna.recall(&["forget", "--yes", "--session", "00000001"]).code, 0);
    anna.world.digest(&EXTRACT);
    let there = server.all_text();
    assert!(!there.contains("Mend part 1") && there.contains("Mend part 2") && there.contains("obelisk"), "{there}");
    // And a note that is here and there, as after a copy of the memory.
    let id = remember(&anna, "The pagoda is the old queue");
    exchange(&anna);
    let text = "The pagoda is the old queue";
    let line = json!({"project": SHOP, "kind": "convention", "id": id, "version": 1, "body": {"text": text}, "search": text});
    let file = anna.world.root().join("copied.jsonl");
    fs::write(&file, format!("{line}\n")).unwrap();
    let ran = anna.recall(&["team", "push", &server.address("anna"), file.to_str().unwrap(), "--machine", "copied"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(server.all_text().matches(text).count(), 4, "twice, each in body and words");
    assert_eq!(anna.recall(&["forget", "--yes", "--note", &id]).code, 0);
    exchange(&anna);
    assert!(!server.all_text().contains("pagoda"));
    let ran = anna.recall(&["team", "withdraw", &name[..8]]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!server.all_text().contains("obelisk"));
    assert!(server.all_text().contains("Mend part 2"), "what is shared from here stays");
    assert_eq!(status(&anna)["installations"], Value::Null);
}

#[test]
fn what_waits_to_be_withdrawn_is_listed_until_it_is_gone() {
    let Some(server) = team_of(&["anna"]) else { return };
    let anna = joined(&server, "anna");
    anna.session(1);
    consents(&anna, "");
    exchange(&anna);
    consents(&anna, "sessions = false\n");
    let now = status(&anna);
    let of_project = &now["projects"][0];
    let session =
        of_project["shared"].as_array().unwrap().iter().find(|one| one["kind"] == "session").unwrap_or_else(|| panic!("{now:#}"));
    assert_eq!((session["text"].as_str(), session["to_withdraw"].as_bool()), (Some("Mend part 1"), Some(true)));
    assert_eq!(of_project["to_withdraw"], 2, "and what it took");
    consents(&anna, &format!("[privacy]\nexclude_projects = [{:?}]\n", anna.clone));
    let now = status(&anna);
    let of_project = &now["projects"][0];
    assert_eq!(
        (of_project["project"].as_str(), of_project["shared"][0]["text"].as_str()),
        (Some(""), Some("Mend part 1")),
        "{now:#}"
    );
    anna.world.digest(&EXTRACT);
    assert_eq!(status(&anna)["projects"], Value::Array(Vec::new()));
    assert!(!server.all_text().contains("Mend part 1"));
}
