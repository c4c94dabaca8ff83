//! One memory on several machines: what came of sessions and what was said goes to all of them, what is forgotten is on none, and nothing is
//! shared that nobody asked for.

mod elsewhere;
mod forgotten;
mod history;
mod hostile;
mod killed;
mod names;
mod projects;
mod rules;
mod status;
mod withdrawn;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::rows::{Rows, bash, put};
use crate::support::{Ran, World, copy_tree, files_below};

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// A machine of the user's, and the folder that all of them share.
struct Machine {
    world: World,
    share: PathBuf,
}

/// The machines of one user.
fn machines<const N: usize>(share: &Path, names: [&str; N]) -> [Machine; N] {
    let mut key = String::new();
    names.map(|name| {
        let machine = Machine { world: World::new(), share: share.to_owned() };
        let share = share.to_str().unwrap();
        let ran = match key.is_empty() {
            true => machine.sync(&["add", share, "--name", name]),
            false => {
                let file = machine.world.root().join("key");
                fs::write(&file, &key).unwrap();
                machine.sync(&["add", share, "--name", name, "--key", file.to_str().unwrap()])
            }
        };
        assert_eq!(ran.code, 0, "{ran:#?}");
        if key.is_empty() {
            key = machine.sync(&["key"]).out;
        }
        machine
    })
}

impl Machine {
    fn sync(&self, args: &[&str]) -> Ran {
        self.world.recall(["sync"].iter().chain(args))
    }

    /// Exchanges, which must succeed.
    fn exchange(&self) -> String {
        let ran = self.sync(&[]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
        ran.out
    }

    fn remember(&self, args: &[&str]) -> Ran {
        let ran = self.world.recall(["remember"].iter().chain(args));
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran
    }

    /// The texts of all notes, with whether they are done.
    fn notes(&self) -> Vec<(String, bool)> {
        let mut notes: Vec<_> = self.world.notes().into_iter().map(|(_, text, is_done)| (text, is_done)).collect();
        notes.sort();
        notes
    }

    fn list(&self) -> Vec<Value> {
        let ran = self.world.recall(["list", "--json"]);
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.list().iter().map(|one| one["session"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    }

    /// All pages without what tells on which machine a session was, and how one there is taken up again.
    fn pages(&self) -> Vec<(String, String)> {
        let plain = |text: String| {
            let text = match text.split_once("\n## Resume\n\n```sh\n") {
                Some((before, after)) => before.to_owned() + after.split_once("```\n").unwrap_or_default().1,
                None => text,
            };
            let is_of_machine = |line: &&str| line.starts_with("machine: ") || line.starts_with("*On the machine ");
            let lines = text.lines().filter(|line| !is_of_machine(line)).filter(|line| !line.is_empty());
            let without_machine = |line: &str| {
                let parts = line.split(" · ").filter(|part| !part.starts_with("on ")).collect::<Vec<_>>();
                parts.join(" · ")
            };
            lines.map(without_machine).collect::<Vec<_>>().join("\n")
        };
        self.world.pages().into_iter().map(|(name, text)| (name, plain(text))).collect()
    }
}

/// Exchanges until all have heard all.
fn settle(machines: &[&Machine]) {
    for _ in 0..3 {
        machines.iter().for_each(|machine| drop(machine.exchange()));
    }
}

/// A session in which a file is edited, a check fails and passes, a commit is made and a task is left.
fn session(n: usize, word: &str) -> Rows {
    let mut rows = Rows::new(n);
    rows.user(json!(format!("The {word} of the shop is wrong, mend it")));
    rows.uses(1, &bash("cargo test"));
    rows.result(1, &format!("error[E0425]: cannot find value `{word}` in this scope"), true);
    rows.uses(2, &json!({"name": "Edit", "input": {"file_path": format!("/home/dev/src/shop/src/{word}.rs"), "old_string": "a", "new_string": "b"}}));
    rows.result(2, "The file has been updated.", false);
    rows.uses(3, &bash("cargo test"));
    rows.result(3, "test result: ok. 12 passed; 0 failed", false);
    rows.uses(4, &bash(&format!("git commit -am 'Mend the {word}'")));
    rows.result(4, &format!("[main abc12{n:02}] Mend the {word}\n 1 file changed, 1 insertion(+)"), false);
    rows.uses(5, &json!({"name": "TodoWrite", "input": {"todos": [{"content": format!("Tell the shop of the {word}"), "status": "pending", "activeForm": "Telling"}]}}));
    rows.result(5, "Todos have been modified", false);
    rows.assistant(&format!("The {word} is mended; the shop is still to be told."));
    rows
}

fn digested(machine: &Machine, n: usize, word: &str) -> String {
    let rows = session(n, word);
    put(&machine.world, &rows.id, &rows.text);
    machine.world.digest(&EXTRACT);
    rows.id
}

#[test]
fn a_second_machine_has_the_pages_of_the_first() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    let one = digested(&laptop, 1, "lantern");
    // A digest exchanges by itself; here everything is there when the second machine asks.
    let report = tower.exchange();
    assert!(report.contains("received 1 session"), "{report}");
    assert_eq!(tower.ids(), [one.as_str()]);
    assert!(!tower.pages().is_empty());
    assert_eq!(tower.pages(), laptop.pages());
    // It is told where it was, found by every word of it, and neither resumed nor copied from here.
    assert_eq!(tower.list()[0]["machine"], "laptop");
    assert!(laptop.list()[0].get("machine").is_none());
    let page = tower.world.recall(["show", &one, "--full"]).out;
    assert!(page.contains("On the machine `laptop`"), "{page}");
    for words in ["lantern mend", "lantern.rs", "E0425", "\"still to be told\""] {
        let found = tower.world.recall(["search", words]).out;
        assert!(found.contains(&one[..8]), "{words}: {found}");
    }
    for args in [vec!["resume", &one], vec!["show", &one, "--raw"]] {
        let ran = tower.world.recall(&args);
        assert_eq!(ran.code, 2, "{ran:#?}");
        assert!(ran.err.contains("laptop"), "{ran:#?}");
    }
    for args in [vec!["fix", "error[E0425]: cannot find value `lantern` in this scope"], vec!["todo"], vec!["stats", "--json"]] {
        let (here, there) = (laptop.world.recall(&args), tower.world.recall(&args));
        assert_eq!(here.out, there.out, "{args:?}");
        assert!(!here.out.is_empty(), "{args:?}");
    }
    // As pages for a browser, too.
    let site = tower.world.root().join("site");
    let ran = tower.world.recall(["serve", "--export", site.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let pages: String = files_below(&site).iter().filter_map(|file| fs::read_to_string(file).ok()).collect();
    assert!(pages.contains("on laptop") && pages.contains("On the machine"), "{}", pages.len());
    // A digest there changes nothing of it, also under new rules: nothing is here to make it from.
    tower.world.digest(&EXTRACT);
    tower.world.digest(&["--rebuild-pages"]);
    assert_eq!(tower.pages(), laptop.pages());
    assert_eq!(tower.exchange(), "nothing new\n");
}

#[test]
fn what_came_from_another_machine_survives_an_export_and_a_repair() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    let one = digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    let other = World::new();
    let file = other.root().join("all.jsonl");
    fs::write(&file, tower.world.recall(["export"]).out).unwrap();
    let ran = other.recall(["import", file.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    other.digest(&["--rebuild-pages"]);
    let other = Machine { world: other, share: share.path().to_owned() };
    assert_eq!(other.list()[0]["machine"], "laptop");
    assert_eq!(other.pages(), laptop.pages());
    // An index of which a part is damaged.
    tower.world.digest(&EXTRACT);
    let index = tower.world.data_dir().join("recall.db");
    let mut bytes = fs::read(&index).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(0x5a);
    fs::write(&index, bytes).unwrap();
    let ran = tower.world.recall(["doctor", "--fix"]);
    assert!(ran.code < 2, "{ran:#?}");
    tower.world.digest(&EXTRACT);
    settle(&[&laptop, &tower]);
    assert_eq!(tower.ids(), [one]);
    assert_eq!(tower.list()[0]["machine"], "laptop");
    assert_eq!(tower.pages(), laptop.pages());
}

#[test]
fn a_session_that_goes_on_is_brought_up_to_date() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    let mut rows = session(1, "lantern");
    put(&laptop.world, &rows.id, &rows.text);
    laptop.world.digest(&EXTRACT);
    settle(&[&laptop, &tower]);
    rows.user(json!("And the chandelier?"));
    rows.assistant("The chandelier hangs again.");
    put(&laptop.world, &rows.id, &rows.text);
    laptop.world.digest(&EXTRACT);
    settle(&[&laptop, &tower]);
    assert!(tower.pages().iter().any(|(_, text)| text.contains("The chandelier hangs again.")));
    assert_eq!(tower.pages(), laptop.pages());
    // What its machine wrote before is in no file any more.
    assert_eq!(files_below(share.path()).len(), 4, "a manifest and a segment of each: {:?}", files_below(share.path()));
}

#[test]
fn a_transcript_that_comes_over_makes_the_session_one_of_this_machine() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    let one = digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    assert_eq!(tower.list()[0]["machine"], "laptop");
    let rows = session(1, "lantern");
    put(&tower.world, &rows.id, &rows.text);
    tower.world.digest(&EXTRACT);
    assert!(tower.list()[0].get("machine").is_none());
    let raw = tower.world.recall(["show", &one, "--raw"]);
    assert_eq!(raw.code, 0, "{raw:#?}");
    settle(&[&laptop, &tower]);
    assert!(laptop.list()[0].get("machine").is_none(), "each has it from its own transcript");
    assert_eq!(tower.pages(), laptop.pages());
}

#[test]
fn what_is_said_on_one_machine_holds_on_all() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower, spare] = machines(share.path(), ["laptop", "tower", "spare"]);
    let all = [&laptop, &tower, &spare];
    digested(&laptop, 1, "lantern");
    laptop.remember(&["--kind", "todo", "--everywhere", "Renew the certificate"]);
    tower.remember(&["--everywhere", "Tabs are four wide"]);
    settle(&all);
    let both = [("Renew the certificate".to_owned(), false), ("Tabs are four wide".to_owned(), false)];
    all.iter().for_each(|machine| assert_eq!(machine.notes(), both));
    // Changed on one, done on another, and an item of the first machine's session closed on the third.
    let ids = |machine: &Machine| -> Vec<(String, String)> {
        let rows = machine.world.recall(["export"]).out;
        let rows = rows.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
        let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        rows.filter(|row| row["note"].is_string()).map(|row| (text(&row, "note"), text(&row, "text"))).collect()
    };
    let note = |machine: &Machine, begins: &str| ids(machine).into_iter().find(|(_, text)| text.starts_with(begins)).unwrap().0;
    laptop.remember(&["--edit", &note(&laptop, "Tabs"), "Tabs are two wide"]);
    assert_eq!(tower.world.recall(["close", &note(&tower, "Renew")]).code, 0);
    let open = spare.world.recall(["todo"]).out;
    let line = open.lines().find(|line| line.contains("lantern")).unwrap_or_else(|| panic!("{open}"));
    let item = line.split_whitespace().find(|word| word.len() == 9 && word.starts_with('n')).unwrap().to_owned();
    assert_eq!(spare.world.recall(["close", &item]).code, 0);
    settle(&all);
    let now = [("Renew the certificate".to_owned(), true), ("Tabs are two wide".to_owned(), false)];
    for machine in all {
        assert_eq!(machine.notes(), now);
        let open = machine.world.recall(["todo"]).out;
        assert!(!open.contains("lantern"), "{open}");
    }
    assert_eq!(laptop.pages(), spare.pages());
    // Taken back again.
    assert_eq!(spare.world.recall(["close", &item, "--undo"]).code, 0);
    settle(&all);
    assert!(laptop.world.recall(["todo"]).out.contains("lantern"));
}

#[test]
fn the_last_word_counts_whatever_the_clocks_say() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    laptop.remember(&["--everywhere", "The port is 8080"]);
    settle(&[&laptop, &tower]);
    let id = tower
        .world
        .recall(["export"])
        .out
        .lines()
        .skip(1)
        .find_map(|line| serde_json::from_str::<Value>(line).unwrap()["note"].as_str().map(str::to_owned))
        .unwrap();
    // A machine whose clock is ten years behind.
    let ran = tower.world.recall_with(["remember", "--edit", &id, "The port is 9090"], &[("RECALL_NOW", "2016-11-21T12:00:00Z")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    settle(&[&tower, &laptop]);
    for machine in [&laptop, &tower] {
        assert_eq!(machine.notes(), [("The port is 9090".to_owned(), false)]);
    }
}

/// The machines, and the id of a note that both know.
fn with_a_note(share: &Path) -> ([Machine; 2], String) {
    let both = machines(share, ["laptop", "tower"]);
    both[0].remember(&["--everywhere", "The port is 8080"]);
    settle(&[&both[0], &both[1]]);
    let id = both[1].world.notes().remove(0).0;
    (both, id)
}

#[test]
fn a_note_that_two_machines_change_at_once_loses_no_text() {
    let share = tempfile::tempdir().unwrap();
    // How much else the tower says before, so that its number is lower, the same, or higher; who hears of the other.
    for (others, laptop_first) in [(0, true), (0, false), (2, true), (2, false)] {
        let share = share.path().join(format!("{others}{laptop_first}"));
        let ([laptop, tower], id) = with_a_note(&share);
        (0..others).for_each(|n| drop(tower.remember(&["--everywhere", &format!("Door {n} of the shop is closed on Sundays")])));
        laptop.remember(&["--edit", &id, "The port is 9090"]);
        tower.remember(&["--edit", &id, "The port is 7070"]);
        let order = if laptop_first { [&laptop, &tower] } else { [&tower, &laptop] };
        let mut said = String::new();
        for machine in order.into_iter().cycle().take(8) {
            let ran = machine.sync(&[]);
            assert_eq!(ran.code, 0, "{ran:#?}");
            said += &ran.err;
        }
        let notes = laptop.notes();
        assert_eq!(notes, tower.notes());
        let texts: Vec<&str> = notes.iter().map(|(text, _)| text.as_str()).filter(|text| text.contains("port")).collect();
        let other = |port: u32| format!("Other version of {id}: The port is {port}");
        let [kept, stands] = texts[..] else { panic!("{notes:?}") };
        assert!(
            (kept, stands) == (&other(9090), "The port is 7070") || (kept, stands) == (&other(7070), "The port is 9090"),
            "{texts:?}"
        );
        let (loser, winner) = if stands.ends_with("7070") { ("9090", "tower") } else { ("7070", "laptop") };
        assert_eq!(said.lines().count(), 1, "{said}");
        let named = laptop.world.notes().into_iter().find(|(_, text, _)| text.ends_with(loser)).unwrap().0;
        assert!(said.contains(&format!("note {id} was changed here and on {winner}")), "{said}");
        assert!(said.contains(&format!("yours is kept as note {named}")), "{said}");
    }
}

#[test]
fn a_note_that_one_machine_changes_after_the_other_leaves_no_other_version() {
    let share = tempfile::tempdir().unwrap();
    let ([laptop, tower], id) = with_a_note(share.path());
    for (machine, port) in [(&laptop, 9090), (&tower, 7070), (&tower, 6060), (&laptop, 4040)] {
        machine.remember(&["--edit", &id, &format!("The port is {port}")]);
        settle(&[machine, &laptop, &tower]);
    }
    // The same on both.
    [&laptop, &tower].iter().for_each(|machine| drop(machine.remember(&["--edit", &id, "The port is 5050"])));
    settle(&[&laptop, &tower]);
    for machine in [&laptop, &tower] {
        assert_eq!(machine.notes(), [("The port is 5050".to_owned(), false)]);
    }
}

#[test]
fn a_place_out_of_reach_is_caught_up_with_later() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    let (there, gone) = (share.path().to_owned(), share.path().with_extension("gone"));
    fs::rename(&there, &gone).unwrap();
    // A file where the folder was: it cannot be made again.
    fs::write(&there, "").unwrap();
    let rows = session(1, "lantern");
    put(&laptop.world, &rows.id, &rows.text);
    let ran = laptop.world.recall(["digest"].iter().chain(&EXTRACT));
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.err.contains("the next exchange catches up"), "{ran:#?}");
    let ran = laptop.sync(&[]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(laptop.world.findings("sync", &[])[0].starts_with("warning: "), "{:?}", laptop.world.findings("sync", &[]));
    fs::remove_file(&there).unwrap();
    fs::rename(&gone, &there).unwrap();
    settle(&[&laptop, &tower]);
    assert_eq!(tower.ids(), [rows.id]);
    assert_eq!(
        tower.world.findings("sync", &[]),
        [format!("ok: {}: exchanges with laptop; this machine is called tower", there.display())]
    );
}

/// A disk that is not mounted leaves the folder in which it was.
#[test]
fn a_folder_that_is_not_there_is_not_made_anew() {
    let top = tempfile::tempdir().unwrap();
    let (disk, away) = (top.path().join("disk"), top.path().join("disk.away"));
    let place = disk.join("s");
    let [laptop, tower] = machines(&place, ["laptop", "tower"]);
    let one = digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    let id = |machine: &Machine| serde_json::from_str::<Value>(&machine.sync(&["status", "--json"]).out).unwrap()["id"].clone();
    let (me, files) = (id(&laptop), files_below(&disk).len());
    fs::rename(&disk, &away).unwrap();
    fs::create_dir(&disk).unwrap();
    let two = digested_without_place(&laptop, 2, "sluice");
    let ran = laptop.sync(&[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, "nothing new\n"), "{ran:#?}");
    assert!(ran.err.contains("is not there: is its disk mounted?") && ran.err.contains("recall sync remove"), "{ran:#?}");
    for args in [vec!["forget-machine", "tower"], vec!["add", place.to_str().unwrap(), "--name", "notebook"]] {
        let ran = laptop.sync(&args);
        assert!(ran.code == 2 && ran.err.contains("is not there: is its disk mounted?"), "{ran:#?}");
    }
    let found = laptop.world.findings("sync", &[]).remove(0);
    assert!(found.starts_with("warning: ") && found.contains("is not there: is its disk mounted?"), "{found}");
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 0);
    // It is mounted again.
    fs::remove_dir(&disk).unwrap();
    fs::rename(&away, &disk).unwrap();
    settle(&[&laptop, &tower]);
    assert_eq!((tower.ids(), id(&laptop), files_below(&disk).len()), (vec![one, two], me, files));
}

/// A digest while its machine's place is out of reach. Returns the session.
fn digested_without_place(machine: &Machine, n: usize, word: &str) -> String {
    let rows = session(n, word);
    put(&machine.world, &rows.id, &rows.text);
    let ran = machine.world.recall(["digest"].iter().chain(&EXTRACT));
    assert!(ran.code == 0 && ran.err.contains("the next exchange catches up"), "{ran:#?}");
    rows.id
}

#[test]
fn a_folder_that_was_deleted_is_made_anew_by_who_adds_it_again() {
    let top = tempfile::tempdir().unwrap();
    let (place, away) = (top.path().join("s"), top.path().join("away"));
    let [laptop, tower] = machines(&place, ["laptop", "tower"]);
    let one = digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    fs::rename(&place, &away).unwrap();
    let address = place.to_str().unwrap();
    for machine in [&laptop, &tower] {
        assert_eq!(machine.sync(&[]).code, 1);
        let ran = machine.sync(&["remove", address]);
        assert!(ran.code == 1 && ran.out.contains("is not there"), "{ran:#?}");
        assert!(!place.exists());
    }
    for machine in [&laptop, &tower] {
        assert_eq!(machine.sync(&["add", address]).code, 0);
    }
    settle(&[&laptop, &tower]);
    assert_eq!((laptop.ids(), tower.ids()), (vec![one.clone()], vec![one.clone()]));
    // It had been moved only: what is forgotten by now goes from it, and nobody is taken for another.
    assert_eq!(laptop.world.recall(["forget", "--session", &one, "--yes"]).code, 0);
    settle(&[&laptop, &tower]);
    fs::remove_dir_all(&place).unwrap();
    fs::rename(&away, &place).unwrap();
    settle(&[&laptop, &tower]);
    assert_eq!(files_below(&place).len(), 4, "a manifest and a segment of each: {:?}", files_below(&place));
    assert_eq!((laptop.ids(), tower.ids()), (Vec::<String>::new(), Vec::new()));
}

/// A host that is this machine: what would run there runs in its home.
#[test]
fn a_host_that_is_reached_by_ssh_is_a_place() {
    let host = tempfile::tempdir().unwrap();
    let script = format!(
        "#!/bin/sh\nPATH=/usr/bin:/bin\nexport PATH\ncd {} || exit 255\nfor last in \"$@\"; do :; done\nexec sh -c \"$last\"\n",
        host.path().display()
    );
    let [laptop, tower] = ["laptop", "tower"].map(|name| {
        let machine = Machine { world: World::new(), share: host.path().to_owned() };
        let ssh = machine.world.bin().join("ssh");
        fs::write(&ssh, &script).unwrap();
        fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let place = format!("ssh://anna@nas{}/recall", host.path().display());
        let ran = machine.sync(&["add", &place, "--name", name, "--unencrypted"]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        machine
    });
    let one = digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    assert_eq!(tower.ids(), [one]);
    assert!(!files_below(&host.path().join("recall")).is_empty());
    // A host that does not answer.
    fs::write(tower.world.bin().join("ssh"), "#!/bin/sh\necho 'Connection refused' >&2\nexit 255\n").unwrap();
    let ran = tower.sync(&[]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("Connection refused"), "{ran:#?}");
}

/// A disk that is mounted read-only, or a run that may not write there.
#[test]
fn what_could_not_be_written_to_a_place_that_can_be_read_is_a_failure() {
    let host = tempfile::tempdir().unwrap();
    let machine = Machine { world: World::new(), share: host.path().to_owned() };
    let ssh = |refuses: &str| {
        let path = machine.world.bin().join("ssh");
        let script = format!(
            "#!/bin/sh\nPATH=/usr/bin:/bin\nexport PATH\nfor last in \"$@\"; do :; done\ncase \"$last\" in\n{refuses}\n*) exec sh -c \"$last\" ;;\nesac\n"
        );
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    ssh("");
    let place = format!("ssh://anna@nas{}/recall", host.path().display());
    assert_eq!(machine.sync(&["add", &place, "--name", "laptop", "--unencrypted"]).code, 0);
    ssh("*umask*) echo 'Read-only file system' >&2; exit 1 ;;");
    // Nothing waits.
    machine.exchange();
    machine.remember(&["--everywhere", "The port is 8080"]);
    let ran = machine.sync(&[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, "could not write to 1 place\n"), "{ran:#?}");
    assert!(ran.err.contains("Read-only file system"), "{ran:#?}");
    let ran = machine.world.recall(["digest"].iter().chain(&EXTRACT));
    assert!(ran.code == 1 && ran.out.contains("could not write to 1 place"), "{ran:#?}");
    assert!(ran.err.contains("Read-only file system") && ran.err.contains("the next exchange catches up"), "{ran:#?}");
    ssh("");
    assert_eq!(machine.exchange(), "sent 1 record\n");
}

#[test]
fn nothing_is_opened_by_who_has_not_set_it_up() {
    let world = World::digested(&["plain"]);
    assert!(!world.data_dir().join("sync").exists());
    let ran = world.recall(["sync"]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.err.contains("recall sync add"), "{ran:#?}");
    let ran = world.recall(["sync", "status"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!world.data_dir().join("sync").exists());
}

#[test]
fn a_place_that_is_removed_holds_nothing_of_this_machine() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    let one = digested(&laptop, 1, "lantern");
    digested(&tower, 2, "sluice");
    settle(&[&laptop, &tower]);
    let ran = laptop.sync(&["remove", share.path().to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let ran = tower.sync(&[]);
    assert!(ran.out.contains("dropped 1 session"), "{ran:#?}");
    assert!(!tower.ids().contains(&one));
    assert_eq!(laptop.ids().len(), 2, "what came to this machine stays");
    assert!(tower.pages().iter().all(|(_, text)| !text.contains("lantern")));
}

#[test]
fn an_excluded_project_is_told_to_nobody_and_withdrawn_when_it_was() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    assert_eq!(tower.ids().len(), 1);
    laptop.world.configure("[privacy]\nexclude_projects = [\"/home/dev/src/shop\"]\n");
    laptop.world.digest(&EXTRACT);
    settle(&[&tower, &laptop]);
    assert_eq!(tower.ids(), [""; 0]);
    // And what another machine tells of it is not stored here.
    digested(&tower, 2, "sluice");
    settle(&[&tower, &laptop]);
    assert_eq!(laptop.ids(), [""; 0]);
    assert!(files_below(&laptop.world.daily()).is_empty());
}

#[test]
fn an_index_that_is_made_anew_has_all_of_it_again() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    digested(&laptop, 1, "lantern");
    digested(&tower, 2, "sluice");
    laptop.remember(&["--everywhere", "Tabs are four wide"]);
    settle(&[&laptop, &tower]);
    let before = tower.pages();
    tower.world.lose_index();
    tower.world.digest(&EXTRACT);
    settle(&[&laptop, &tower]);
    assert_eq!(tower.pages(), before);
    assert_eq!(tower.notes(), laptop.notes());
    assert_eq!(laptop.ids(), tower.ids());
}

#[test]
fn a_purge_takes_what_is_known_of_other_machines_along() {
    let share = tempfile::tempdir().unwrap();
    let [laptop] = machines(share.path(), ["laptop"]);
    digested(&laptop, 1, "lantern");
    let ran = laptop.world.recall(["uninstall", "--purge", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!laptop.world.data_dir().exists());
}

#[test]
fn a_copy_of_a_disk_becomes_a_machine_of_its_own() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    digested(&laptop, 1, "lantern");
    laptop.remember(&["--everywhere", "Tabs are four wide"]);
    settle(&[&laptop, &tower]);
    let copy = Machine { world: World::new(), share: share.path().to_owned() };
    copy_tree(laptop.world.root(), copy.world.root());
    fs::set_permissions(copy.world.data_dir(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let one = digested(&laptop, 2, "sluice");
    laptop.exchange();
    let two = digested(&copy, 3, "quarry");
    let ran = copy.sync(&[]);
    assert!(ran.code < 2 && !ran.err.contains("panicked"), "{ran:#?}");
    settle(&[&laptop, &tower, &copy]);
    for machine in [&laptop, &tower, &copy] {
        assert!(machine.ids().contains(&one) && machine.ids().contains(&two), "{:?}", machine.ids());
        assert_eq!(machine.notes(), [("Tabs are four wide".to_owned(), false)]);
        assert_eq!(machine.pages(), tower.pages());
    }
}

#[test]
fn an_agent_may_not_change_with_whom_the_memory_is_shared() {
    let world = World::new();
    let place = world.root().join("share");
    let ran = world.recall_with(["sync", "add", place.to_str().unwrap()], &[("CLAUDECODE", "1")]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(!world.data_dir().join("sync").exists());
}
