//! A session that a colleague shared, opened by its id.

use serde_json::Value;

use super::over_postgres::{SHOP, consents, exchange, joined, keys_of, listed, remember, team_of};

#[test]
fn a_colleagues_session_is_shown_as_theirs_where_the_server_is_asked() {
    let Some(server) = team_of(&["anna", "ben", "carl"]) else { return };
    let (anna, ben, carl) = (joined(&server, "anna"), joined(&server, "ben"), joined(&server, "carl"));
    (1..=2).for_each(|n| anna.session(n));
    consents(&anna, "");
    let note = remember(&anna, "The obelisk is the staging host");
    exchange(&anna);
    ben.session(9);
    let found = ben.recall(&["search", "--team", "Mend part 2"]);
    assert!(found.out.contains("session 00000002"), "{found:#?}");
    let ran = ben.recall(&["show", "00000002"]);
    assert!(ran.code == 2 && ran.err.contains("`recall show --team 00000002`"), "{ran:#?}");
    let ran = ben.recall(&["show", "--team", "00000002"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let first = ran.out.lines().next().unwrap();
    assert!(
        first.starts_with("> session 00000002 of") && first.contains(SHOP) && first.ends_with("as anna of your team shared it"),
        "{ran:#?}"
    );
    assert!(ran.out.contains("Mend part 2") && !ran.out.contains("Mend part 1"), "{ran:#?}");
    let ran = ben.recall(&["show", "--team", "--json", "00000002"]);
    let shown: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
    assert_eq!((shown["team"].as_str(), shown["kind"].as_str()), (Some("anna"), Some("session")));
    assert_eq!(keys_of(&shown), listed("show --team"));
    // What is here is shown as it is here, and a statement as its author's.
    let ran = ben.recall(&["show", "--team", "00000009"]);
    assert!(ran.code == 0 && !ran.out.contains("of your team"), "{ran:#?}");
    let ran = ben.recall(&["show", "--team", &note]);
    assert!(ran.code == 0 && ran.out.contains("as anna of your team shared it") && ran.out.contains("obelisk"), "{ran:#?}");
    // Several that begin alike are named, and none is guessed.
    let ran = ben.recall(&["show", "--team", "0000"]);
    assert!(ran.code == 0 || ran.err.contains("matches several ids"), "{ran:#?}");
    for (id, why) in [("0badc0de", "has anything with the id"), ("00000002 or so", "is no id")] {
        let ran = ben.recall(&["show", "--team", id]);
        assert!(ran.code == 2 && ran.err.contains(why), "{ran:#?}");
    }
    // Who may not read the project does not, nor does whoever excludes it.
    carl.session(8);
    server.admin(&format!("SELECT recall_team.set_access('core', 'carl', '{SHOP}', false, false)"));
    let ran = carl.recall(&["show", "--team", "00000002"]);
    assert!(ran.code == 2 && !ran.out.contains("Mend"), "{ran:#?}");
    server.log_statements();
    ben.world.configure(&format!("[privacy]\nexclude_projects = [{:?}]\n", ben.clone));
    let ran = ben.recall(&["show", "--team", "0badcafe"]);
    assert!(ran.code == 2 && ran.err.contains("excludes this folder"), "{ran:#?}");
    assert!(!server.log().contains("0badcafe"));
    ben.world.configure("");
    server.stop();
    let ran = ben.recall(&["show", "--team", "00000002"]);
    assert!(ran.code == 2 && ran.err.contains("your team's server: "), "{ran:#?}");
}
