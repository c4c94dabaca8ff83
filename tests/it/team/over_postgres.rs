//! With a real server, which `.ci/full servers` asks for.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::share::Member;
use crate::support::Ran;
use crate::support::data_folder::places_of;
use crate::support::postgres::Postgres;

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];
pub(super) const SHOP: &str = "example.com/acme/shop";

/// A server with a team and these members, who may read and share in the shop.
pub(super) fn team_of(logins: &[&str]) -> Option<Postgres> {
    let server = Postgres::start()?;
    let member = Member::new();
    let ran = member.recall(&["team", "prepare", &server.address("postgres")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    for line in ["CREATE ROLE anna LOGIN", "SELECT recall_team.add_member('core', 'anna');"] {
        assert!(ran.out.contains(line), "{ran:#?}");
    }
    server.admin(&format!("SELECT recall_team.add_team('core'); SELECT recall_team.add_project('core', '{SHOP}')"));
    for login in logins {
        server.admin(&format!(
            "CREATE ROLE {login} LOGIN; SELECT recall_team.add_member('core', '{login}'); SELECT recall_team.set_access('core', '{login}', '{SHOP}', true, true)"
        ));
    }
    Some(server)
}

/// Somebody with a clone of the shop, who joined.
pub(super) fn joined(server: &Postgres, login: &str) -> Member {
    let member = Member::new();
    let config = format!("[user]\n\tname = {login}\n[remote \"origin\"]\n\turl = git@example.com:acme/shop.git\n");
    fs::write(member.clone.join(".git/config"), config).unwrap();
    let ran = member.recall(&["team", "join", &server.address(login)]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    member
}

/// Lets the team have the shop.
pub(super) fn consents(member: &Member, more: &str) {
    member.world.configure(&format!("[team.{:?}]\nshare = true\n{more}", member.clone));
}

pub(super) fn exchange(member: &Member) -> Ran {
    let ran = member.recall(&["team", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran
}

pub(super) fn remember(member: &Member, text: &str) -> String {
    let ran = member.recall(&["remember", "--kind", "convention", text]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.out
        .split_whitespace()
        .find(|word| word.len() == 9 && word.starts_with('m'))
        .unwrap_or_else(|| panic!("{ran:#?}"))
        .to_owned()
}

pub(super) fn status(member: &Member) -> Value {
    let ran = member.recall(&["team", "status", "--json"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    serde_json::from_str(&ran.out).unwrap()
}

pub(super) fn keys_of(reply: &Value) -> BTreeSet<String> {
    reply.as_object().unwrap().keys().cloned().collect()
}

/// The keys that the chapter on formats lists.
pub(super) fn listed(command: &str) -> BTreeSet<String> {
    let chapter = include_str!("../../../docs/src/formats.md");
    let row = chapter.lines().find(|line| line.starts_with(&format!("| `recall {command} --json`, in a team |"))).expect("a row");
    row.rsplit_once(" | ").unwrap().1.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn from_nothing_to_a_teammate() {
    let Some(server) = team_of(&["anna", "ben"]) else { return };
    let anna = joined(&server, "anna");
    (1..=2).for_each(|n| anna.session(n));
    remember(&anna, "We use pnpm, never npm");
    exchange(&anna);
    assert!(!server.all_text().contains("pnpm"), "nothing leaves without consent");
    assert_eq!(status(&anna)["projects"][0]["share"], false);
    consents(&anna, "");
    assert_eq!(status(&anna)["projects"][0]["waiting"], 6, "{}", status(&anna));
    let ran = exchange(&anna);
    assert_eq!(ran.out.lines().last(), Some("shared 6 records"));
    assert_eq!(exchange(&anna).out, "nothing new\n");
    // What did leave can be looked at.
    let there = status(&anna);
    let shared = there["projects"][0]["shared"].as_array().unwrap();
    let kinds: Vec<&str> = shared.iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["convention", "cure", "session", "session", "usage", "usage"]);
    assert!(shared[0]["text"].as_str().unwrap().contains("pnpm"));
    assert!(!server.all_text().contains(anna.world.root().to_str().unwrap()), "no path of this machine");
    // Ben reads below his own notes what Anna noted, and finds her sessions where he asks the server.
    let ben = joined(&server, "ben");
    ben.session(9);
    assert!(ben.world.digest(&EXTRACT)["team"].as_str().is_some_and(|text| text.contains("nothing new")));
    let told = ben.recall(&["context"]).out;
    assert!(told.contains("We use pnpm, never npm") && told.contains("your team: anna"), "{told}");
    let found = ben.recall(&["search", "pnpm"]).out;
    assert!(found.contains("convention of your team, by anna"), "{found}");
    let found = ben.recall(&["search", "--team", "pnpm"]).out;
    assert_eq!(found.matches("pnpm").count(), 1, "what is here already is told once: {found}");
    let only_here = ben.recall(&["search", "Mend part 2"]);
    assert!(!only_here.out.contains("Mend part 2"), "{only_here:#?}");
    let found = ben.recall(&["search", "--team", "Mend", "part", "2"]);
    assert!(found.out.contains("Mend part 2") && found.out.contains("(your team: anna)"), "{found:#?}");
    let found = ben.recall(&["search", "--team", "--json", "Mend part 2"]);
    let of_team: Vec<Value> =
        found.out.lines().map(|line| serde_json::from_str(line).unwrap()).filter(|hit: &Value| hit["team"] == "anna").collect();
    assert_eq!(keys_of(&of_team[0]), listed("search --team"));
    assert_eq!(keys_of(&there), listed("team status"));
    let text =
        of_team.iter().find(|hit| hit["title"] == "Mend part 2").unwrap_or_else(|| panic!("{found:#?}"))["text"].as_str().unwrap();
    assert!(text.contains("What the user said in each turn") && text.contains("`make check` 17:00: “12 passed”"), "{text}");
    assert!(!text.contains("recall show"), "what only Anna can do: {text}");
    // Who leaves takes everything with them.
    let ran = anna.recall(&["team", "leave"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!server.all_text().contains("pnpm"));
    ben.world.digest(&EXTRACT);
    assert_eq!(places_of(&ben.world, "never npm"), [""; 0]);
    assert_eq!(anna.recall(&["team", "status"]).code, 2);
}

#[test]
fn what_is_forgotten_changed_or_not_shared_any_more_is_gone_from_server_and_clones() {
    let Some(server) = team_of(&["anna", "ben"]) else { return };
    let (anna, ben) = (joined(&server, "anna"), joined(&server, "ben"));
    ben.session(9);
    anna.session(1);
    consents(&anna, "");
    let ids: Vec<String> =
        ["Obelisk is the staging host", "Pagoda is the old queue"].iter().map(|text| remember(&anna, text)).collect();
    exchange(&anna);
    exchange(&ben);
    assert!(ben.recall(&["context"]).out.contains("Obelisk"));
    assert_eq!(anna.recall(&["forget", "--yes", "--note", &ids[0]]).code, 0);
    assert_eq!(anna.recall(&["remember", "--edit", &ids[1], "Minaret is the old queue"]).code, 0);
    anna.world.digest(&EXTRACT);
    ben.world.digest(&EXTRACT);
    for word in ["Obelisk", "Pagoda"] {
        assert!(!server.all_text().contains(word), "{word}");
        assert_eq!(places_of(&ben.world, word), [""; 0]);
    }
    assert!(ben.recall(&["context"]).out.contains("Minaret"));
    assert!(server.all_text().contains("Mend part 1"));
    consents(&anna, "sessions = false\n");
    anna.world.digest(&EXTRACT);
    assert!(!server.all_text().contains("Mend part 1"));
    assert!(server.all_text().contains("Minaret"));
    anna.world.configure("");
    assert_eq!(status(&anna)["projects"][0]["to_withdraw"], 1);
    exchange(&anna);
    exchange(&ben);
    assert!(!server.all_text().contains("Minaret"));
    assert_eq!(places_of(&ben.world, "Minaret"), [""; 0]);
    // And comes again where it is shared again.
    consents(&anna, "sessions = false\n");
    exchange(&anna);
    exchange(&ben);
    assert!(ben.recall(&["context"]).out.contains("Minaret"));
}

#[test]
fn nothing_of_a_project_that_is_excluded_or_secret_leaves() {
    let Some(server) = team_of(&["anna"]) else { return };
    let anna = joined(&server, "anna");
    remember(&anna, "The gate opens with OPENSESAME-4711");
    remember(&anna, "The logs lie in /Users/anna/logs/shop");
    let elsewhere = anna.world.root().join("work/bank");
    fs::create_dir_all(elsewhere.join(".git")).unwrap();
    fs::write(elsewhere.join(".git/config"), "[remote \"origin\"]\n\turl = git@example.com:acme/bank\n").unwrap();
    let output = anna.world.command().args(["remember", "The vault is in zanzibar"]).current_dir(&elsewhere).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    consents(&anna, "[[privacy.rules]]\nid = \"gate\"\npattern = \"OPENSESAME-[0-9]+\"\n");
    exchange(&anna);
    let there = server.all_text();
    assert!(!["OPENSESAME-4711", "/Users/anna", "zanzibar"].iter().any(|word| there.contains(word)), "{there}");
    let refused = status(&anna)["projects"].to_string();
    assert!(refused.contains("path of a home"), "{refused}");
    // Excluded after it was shared.
    remember(&anna, "Xylophone is the build host");
    exchange(&anna);
    assert!(server.all_text().contains("Xylophone"));
    consents(&anna, &format!("[privacy]\nexclude_projects = [{:?}]\n", anna.clone));
    anna.world.digest(&EXTRACT);
    assert!(!server.all_text().contains("Xylophone"));
}

#[test]
fn a_server_that_is_away_costs_a_word_and_nothing_else() {
    let Some(server) = team_of(&["anna"]) else { return };
    let anna = joined(&server, "anna");
    consents(&anna, "");
    remember(&anna, "The queue is called orders");
    exchange(&anna);
    remember(&anna, "We use pnpm, never npm");
    server.stop();
    let later = |args: &[&str], now: &str| {
        let output = anna.world.command().args(args).env("RECALL_NOW", now).current_dir(&anna.clone).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, _, err) = later(&["digest", "--summarizer", "extract"], "2026-11-21T13:00:00Z");
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("team: could not join the team at /") && err.contains("; digests try again after 14:01"), "{err}");
    // It waits before it asks again, unless somebody asks by hand.
    let (_, _, err) = later(&["digest", "--summarizer", "extract"], "2026-11-21T13:00:30Z");
    assert!(!err.contains("team"), "{err}");
    assert_eq!(later(&["team"], "2026-11-21T13:00:40Z").0, 2);
    let (_, out, _) = later(&["doctor"], "2026-11-21T13:00:45Z");
    assert!(out.contains("could not join the team") && out.contains("`recall team` does so now"), "{out}");
    let (code, out, err) = later(&["search", "--team", "pnpm"], "2026-11-21T13:00:50Z");
    assert!(code == 1 && out.contains("We use pnpm") && err.contains("your team's server: "), "{out} {err}");
    server.resume();
    let (_, out, err) = later(&["digest", "--summarizer", "extract"], "2026-11-21T13:30:00Z");
    assert!(out.contains("shared 1 record"), "{out} {err}");
}

#[test]
fn an_exchange_that_is_killed_anywhere_loses_and_doubles_nothing() {
    let Some(server) = team_of(&["anna", "ben"]) else { return };
    let (anna, ben) = (joined(&server, "anna"), joined(&server, "ben"));
    ben.session(9);
    consents(&anna, "");
    consents(&ben, "sessions = false\n");
    let id = remember(&anna, "The port is 8080");
    remember(&ben, "The queue is called orders");
    let killed = |member: &Member, point: &str| {
        let output = member.world.command().args(["team"]).env("RECALL_KILL_AT", format!("{point}:1")).output().unwrap();
        assert_eq!(output.status.code(), None, "it passes `{point}`");
    };
    for (n, point) in ["team planned", "team came", "team told", "team heard"].into_iter().enumerate() {
        let edited = |text: &str| assert_eq!(anna.recall(&["remember", "--edit", &id, text]).code, 0);
        edited(&format!("The port is 8{n}81"));
        remember(&ben, &format!("Step {n} of the migration is done"));
        killed(&anna, point);
        edited(&format!("The port is 9{n}90"));
        exchange(&ben);
        exchange(&anna);
        exchange(&ben);
        exchange(&anna);
        let told = ben.recall(&["context"]).out;
        assert!(told.contains(&format!("The port is 9{n}90")), "{point}: {told}");
        assert_eq!(told.matches("The port is").count(), 1, "{point}: {told}");
        assert_eq!(files_below(&anna.world.data_dir().join("team/projects")), n + 2, "{point}");
    }
}

/// How many statements of others a member has.
fn files_below(folder: &Path) -> usize {
    crate::support::files_below(folder).len()
}

#[test]
fn who_may_not_read_a_project_any_more_has_nothing_of_it() {
    let Some(server) = team_of(&["anna", "ben"]) else { return };
    let (anna, ben) = (joined(&server, "anna"), joined(&server, "ben"));
    ben.session(9);
    consents(&anna, "");
    remember(&anna, "Obelisk is the staging host");
    exchange(&anna);
    exchange(&ben);
    assert!(ben.recall(&["context"]).out.contains("Obelisk"));
    server.admin(&format!("SELECT recall_team.set_access('core', 'ben', '{SHOP}', false, false)"));
    exchange(&ben);
    assert_eq!(places_of(&ben.world, "Obelisk"), [""; 0]);
    // A policy narrows what may be shared; who shares hears of it.
    server.admin(&format!("SELECT recall_team.set_policy('core', '{SHOP}', ARRAY['decision'], NULL, false)"));
    remember(&anna, "Pagoda is the old queue");
    let ran = anna.recall(&["team"]);
    assert!(ran.code == 0 && ran.out.contains("kept here by the policy of your team: 1 record"), "{ran:#?}");
    assert!(!server.all_text().contains("Pagoda"));
    assert_eq!(status(&anna)["projects"][0]["refused"].as_array().unwrap().len(), 1);
    let out = anna.recall(&["doctor"]).out;
    assert!(out.contains("1 record not shared with"), "{out}");
}

#[test]
fn the_words_of_a_search_leave_as_the_sanitizer_lets_them_pass() {
    let Some(server) = team_of(&["anna", "ben"]) else { return };
    let (anna, ben) = (joined(&server, "anna"), joined(&server, "ben"));
    consents(&anna, "");
    remember(&anna, "The obelisk is the staging host");
    exchange(&anna);
    ben.session(9);
    server.log_statements();
    let key = format!("ghp_{}", "Zq3Wn8Xv2Lk9Jd5Rt7Yb1Mc4Hf6Gs0PaEuKo");
    let words = format!(
        "which host is the obelisk, does it run all of the staging, and who lets me in there with the key {key} <private>Zorkmann</private>"
    );
    let found = ben.recall(&["search", "--team", &words]);
    assert!(found.code == 0 && found.err.is_empty(), "{found:#?}");
    ben.recall(&["search", "--team", &format!("password is hunter2hunter in {}/logs", ben.world.home().display())]);
    ben.recall(&["search", "--team", "the pagoda in /home/eve/logs"]);
    let nothing_left = ben.recall(&["search", "--team", &key]);
    assert!(nothing_left.code == 1 && nothing_left.err.contains("nothing of these words"), "{nothing_left:#?}");
    ben.world.configure(&format!("[privacy]\nexclude_projects = [{:?}]\n", ben.clone));
    let excluded = ben.recall(&["search", "--team", "minaret"]);
    assert!(excluded.code == 1 && excluded.err.contains("excludes this folder"), "{excluded:#?}");
    let log = server.log();
    assert!(log.contains("obelisk") && log.contains("pagoda"), "the words are logged: {log}");
    let home = ben.world.home().display().to_string();
    for word in [key.as_str(), "Zorkmann", "hunter2hunter", &home, "/home/eve", "minaret"] {
        assert!(!log.contains(word), "{word}: {log}");
    }
}
