//! Two machines of somebody with one name: a virtual machine that was cloned.

use std::fs;
use std::process::Command;

use super::over_postgres::{exchange, joined, remember, status, team_of};
use crate::share::Member;

const BY_ADDRESS: &str = "[team.\"example.com/acme/shop\"]\nshare = true\n";

/// A second machine with a copy of all that the first one knows.
fn copy_of(member: &Member) -> Member {
    let mut copy = Member::new();
    let to = copy.world.data_dir();
    let _ = fs::remove_dir_all(&to);
    let status = Command::new("cp").arg("-a").arg(member.world.data_dir()).arg(&to).status().unwrap();
    assert!(status.success());
    copy.clone.clone_from(&member.clone);
    copy.world.configure(BY_ADDRESS);
    copy
}

#[test]
fn neither_overwrites_nor_withdraws_what_the_other_shared_and_both_are_told() {
    let Some(server) = team_of(&["anna"]) else { return };
    let anna = joined(&server, "anna");
    anna.session(1);
    anna.world.configure(BY_ADDRESS);
    let note = remember(&anna, "The obelisk is the staging host");
    exchange(&anna);
    let machines = || server.admin("SELECT count(DISTINCT author) FROM recall_team.record WHERE NOT deleted").trim().to_owned();
    assert_eq!(machines(), "1");
    let copy = copy_of(&anna);
    // The copy comes first, and nobody can tell.
    assert_eq!(copy.recall(&["remember", "--edit", &note, "The obelisk is the minaret host"]).code, 0);
    exchange(&copy);
    remember(&anna, "The pagoda is the old queue");
    let ran = anna.recall(&["team"]);
    assert!(ran.code == 1 && ran.err.contains("a copy of this disk") && ran.err.contains("recall team withdraw "), "{ran:#?}");
    assert_eq!(machines(), "2");
    let there = server.all_text();
    for text in ["obelisk is the minaret host", "obelisk is the staging host", "pagoda"] {
        assert!(there.contains(text), "{text}: {there}");
    }
    assert_eq!(exchange(&anna).out, "nothing new\n", "she goes on under her new name");
    // The other one hears of it, once.
    let ran = copy.recall(&["team"]);
    assert!(ran.code == 1 && ran.err.contains("a copy of this machine's data"), "{ran:#?}");
    exchange(&copy);
    assert!(status(&copy)["installations"].to_string().contains("pagoda"), "{}", status(&copy));
    // Neither takes back more than its own.
    anna.world.configure("");
    exchange(&anna);
    assert_eq!(machines(), "1");
    assert!(server.all_text().contains("obelisk is the minaret host"));
    let found = server.admin("SELECT count(*) FROM recall_team.record WHERE NOT deleted AND kind = 'session'");
    assert_eq!(found.trim(), "1", "the session that the copy shares stays");
}

#[test]
fn a_machine_whose_data_was_restored_shares_under_a_new_name() {
    let Some(server) = team_of(&["anna"]) else { return };
    let anna = joined(&server, "anna");
    anna.world.configure(BY_ADDRESS);
    remember(&anna, "The obelisk is the staging host");
    exchange(&anna);
    let before = copy_of(&anna);
    remember(&anna, "The pagoda is the old queue");
    exchange(&anna);
    // From the backup, and `anna` is no more.
    let ran = before.recall(&["team"]);
    assert!(ran.code == 1 && ran.err.contains("before its data was restored"), "{ran:#?}");
    let left = status(&before)["installations"][0].clone();
    assert!(left.to_string().contains("pagoda"), "{left}");
    let name = left["name"].as_str().unwrap();
    assert!(ran.err.contains(&name[..12]), "{ran:#?}");
    assert_eq!(before.recall(&["team", "withdraw", &name[..12]]).code, 0);
    let there = server.all_text();
    assert!(!there.contains("pagoda") && there.contains("obelisk"), "{there}");
}
