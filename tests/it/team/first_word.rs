//! Before anything of a project leaves: it is listed, and the user agrees once.

use std::fs;

use serde_json::Value;

use super::over_postgres::{consents, exchange, joined, remember, status, team_of};
use crate::share::Member;

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

#[test]
fn the_first_time_of_a_project_nothing_leaves_before_somebody_saw_it_and_agreed() {
    let Some(server) = team_of(&["anna"]) else { return };
    let anna = joined(&server, "anna");
    anna.session(1);
    remember(&anna, "The obelisk is the staging host");
    consents(&anna, "");
    let digest = anna.world.digest(&EXTRACT);
    assert!(digest["team"].as_str().unwrap().contains("not shared until you agree"), "{digest}");
    let nobody_asked = anna.recall(&["team"]);
    assert_eq!(nobody_asked.code, 1, "{nobody_asked:#?}");
    for ran in [&nobody_asked, &anna.recall(&["team", "--dry-run"])] {
        assert!(ran.out.contains("convention  The obelisk is the staging host"), "{ran:#?}");
        assert!(ran.out.contains("session     Mend part 1"), "{ran:#?}");
    }
    assert!(!server.all_text().contains("obelisk"));
    assert_eq!(status(&anna)["projects"][0]["confirmed"], false);
    let by_agent = |args: &[&str]| {
        let output = anna.world.command().args(args).env("CLAUDECODE", "1").current_dir(&anna.clone).output().unwrap();
        output.status.code()
    };
    assert_eq!(by_agent(&["team", "--yes"]), Some(2), "an agent cannot agree");
    assert!(!server.all_text().contains("obelisk"));
    assert_eq!(exchange(&anna).out.lines().last(), Some("shared 3 records"));
    assert_eq!(status(&anna)["projects"][0]["confirmed"], true);
    assert_eq!(anna.recall(&["team", "--dry-run"]).out, "nothing would be sent\n");
    // Who shared before anybody asked goes on without being asked.
    let file = anna.world.data_dir().join("team/state.json");
    let mut known: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert!(known.as_object_mut().unwrap().remove("confirmed").is_some());
    fs::write(&file, known.to_string()).unwrap();
    // From then on each digest shares. Who took a project back is asked again.
    remember(&anna, "The pagoda is the old queue");
    anna.world.digest(&EXTRACT);
    assert!(server.all_text().contains("pagoda"));
    anna.world.configure("");
    anna.world.digest(&EXTRACT);
    consents(&anna, "");
    anna.world.digest(&EXTRACT);
    assert!(!server.all_text().contains("pagoda"));
}

#[test]
fn who_shares_no_project_is_told_how_to() {
    let Some(server) = team_of(&["anna"]) else { return };
    let anna = joined(&server, "anna");
    anna.session(1);
    let hint = "you share no project: `share = true` under `[team.\"PATH\"]`";
    let ran = anna.recall(&["team"]);
    assert!(ran.code == 0 && ran.out == "nothing new\n" && ran.err.contains(hint), "{ran:#?}");
    consents(&anna, "");
    assert!(!exchange(&anna).err.contains(hint));
}

#[test]
fn who_joins_with_a_project_shared_already_is_told_so() {
    let Some(server) = team_of(&["anna"]) else { return };
    let anna = Member::new();
    fs::write(anna.clone.join(".git/config"), "[remote \"origin\"]\n\turl = git@example.com:acme/shop.git\n").unwrap();
    anna.session(1);
    anna.world.configure(&format!("[team.{:?}]\nshare = true\n[team.\"/srv/shopp\"]\nshare = true\n", anna.clone));
    let ran = anna.recall(&["team", "join", &server.address("anna")]);
    assert!(ran.code == 0 && ran.out.contains("Your config shares ") && !ran.out.contains("Nothing of yours"), "{ran:#?}");
    // A name that fits nothing is told.
    assert_eq!(status(&anna)["unknown"][0], "/srv/shopp");
    for command in [&["team", "status"][..], &["doctor"]] {
        let ran = anna.recall(command);
        assert!(ran.out.contains("/srv/shopp") && ran.out.contains("fits no project"), "{ran:#?}");
    }
}
