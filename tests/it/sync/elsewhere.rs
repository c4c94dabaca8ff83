//! Whoever reads of a session hears on which machine it is.

use serde_json::Value;

use super::{digested, machines, settle};

#[test]
fn every_list_says_which_sessions_are_on_another_machine() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    let there = digested(&laptop, 1, "lantern");
    let here = digested(&tower, 2, "sluice");
    settle(&[&laptop, &tower]);
    let line = |args: &[&str], id: &str| -> String {
        let ran = tower.world.recall(args);
        ran.out.lines().find(|line| line.contains(&id[..8])).unwrap_or_else(|| panic!("{ran:#?}")).to_owned()
    };
    for args in [["search", "shop"], ["list", "--limit=9"], ["day", "2026-11-01"]] {
        let (afar, own) = (line(&args, &there), line(&args, &here));
        assert!(afar.contains("on laptop"), "{args:?}: {afar}");
        assert!(!own.contains("on laptop") && !own.contains("on tower"), "{args:?}: {own}");
    }
    let found: Vec<Value> =
        tower.world.recall(["search", "shop", "--json"]).out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let machine = |id: &str| found.iter().find(|one| one["session"] == id).unwrap().get("machine").cloned();
    assert_eq!((machine(&there), machine(&here)), (Some("laptop".into()), None));
    // How many there are.
    let status = tower.world.recall(["status"]).out;
    assert!(
        status.lines().any(|line| line.starts_with("sessions") && line.contains("2,") && line.contains("1 from another machine")),
        "{status}"
    );
    let status: Value = serde_json::from_str(&tower.world.recall(["status", "--json"]).out).unwrap();
    assert_eq!(status["from_other_machines"], 1);
}

#[test]
fn who_has_no_other_machine_reads_nothing_of_machines() {
    let share = tempfile::tempdir().unwrap();
    let [laptop] = machines(share.path(), ["laptop"]);
    digested(&laptop, 1, "lantern");
    laptop.exchange();
    for args in [vec!["status"], vec!["status", "--json"], vec!["day", "2026-11-01"], vec!["search", "lantern", "--json"]] {
        let ran = laptop.world.recall(&args);
        assert!(!ran.out.is_empty() && !ran.out.contains("machine") && !ran.out.contains("on laptop"), "{ran:#?}");
    }
}

#[test]
fn a_transcript_that_is_elsewhere_is_said_to_be_there_and_what_is_here_instead() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    let one = digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    let ran = tower.world.recall(["show", &one, "--raw"]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.err.contains("laptop") && ran.err.contains(&format!("`recall show {} --full`", &one[..8])), "{ran:#?}");
    assert!(!ran.err.contains(&one), "the short id is enough: {ran:#?}");
    let finding = &tower.world.findings("sync", &[])[0];
    assert!(finding.contains("laptop") && finding.contains("this machine is called tower"), "{finding}");
}
