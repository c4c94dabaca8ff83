//! What the user's own patterns, rules and project globs name is left out: from the start, and from what is stored already.

use serde_json::json;

use crate::private::outputs::{check_with, digest_and_listen, listener, turn, words_of};
use crate::support::World;
use crate::support::rows::{Rows, bash, put};

const PATTERN: &str = "[privacy]\nexclude_patterns = ['(?i)project\\s+bluebird']\n";

/// A session with the pattern in every kind of item, next to others of the same kind.
fn of_bluebird() -> Rows {
    let mut rows = turn(1, "Mend loud1, please.", "loud2 is mended.");
    rows.user(json!("For Project  Bluebird we need hush1."));
    rows.assistant("hush2 is what project bluebird needs.\n\nAnd hush3, in another paragraph.");
    rows.uses(1, &bash("./run.sh --for 'project bluebird' hush4"));
    rows.result(1, "Exit code 1\nerror: that is no number", true);
    rows.uses(2, &bash("./run.sh loud4"));
    rows.result(2, "Exit code 1\nerror: project bluebird lacks hush5", true);
    rows.uses(3, &json!({"name": "ExitPlanMode", "input": {"plan": "1. Project Bluebird\n2. hush6"}}));
    rows.uses(4, &json!({"name": "mcp__tracker__add", "input": {"title": "PROJECT BLUEBIRD", "text": "hush7"}}));
    rows.row(json!({"type": "custom-title", "customTitle": "Project Bluebird and hush8"}));
    rows.row(json!({"type": "system", "subtype": "away_summary", "content": "Project bluebird waits for hush9."}));
    rows.row(json!({"type": "user", "isCompactSummary": true, "message": {"role": "user",
        "content": "This session is being continued from a previous conversation.\n\nSummary:\nProject Bluebird has hush10."}}));
    rows.user(json!("Now the bluebird in loud5, which is another project."));
    rows.assistant("loud6 is mended.");
    rows
}

#[test]
fn what_matches_a_pattern_is_left_out_whole() {
    check_with(PATTERN, &of_bluebird());
}

#[test]
fn a_pattern_that_came_later_cleans_what_is_stored() {
    let listener = listener("");
    let rows = of_bluebird();
    put(&listener.world, &rows.id, &rows.text);
    let ran = listener.world.recall(["digest", "--summarizer", "extract"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(listener.world.recall(["export"]).out.contains("hush1"), "nothing says yet that it is private");
    listener.world.configure(&format!("{}{PATTERN}", crate::private::outputs::CONFIG));
    digest_and_listen(&listener);
}

#[test]
fn a_rule_of_the_users_own_redacts_and_leaves_the_rest() {
    let rule = "[[privacy.rules]]\nid = \"customer\"\npattern = 'CUST-hush[0-9]{6}'\nkeywords = [\"CUST-\"]\n";
    let mut rows =
        turn(1, "Mend the list of CUST-hush100001, which shows loud1.", "The list of CUST-hush100002 shows loud2 again.");
    rows.uses(1, &bash("./run.sh --customer CUST-hush100003 --list loud3"));
    rows.result(1, "Exit code 1\nerror: there is nobody like CUST-hush100004 in the list of loud4", true);
    rows.row(json!({"type": "ai-title", "aiTitle": "Mend the long list loud5 of the shop for CUST-hush100005"}));
    rows.assistant("Done.");
    check_with(rule, &rows);
    let listener = listener("");
    put(&listener.world, &rows.id, &rows.text);
    assert_eq!(listener.world.recall(["digest", "--summarizer", "extract"]).code, 0);
    assert!(listener.world.recall(["export"]).out.contains("CUST-hush100001"));
    listener.world.configure(&format!("{}{rule}", crate::private::outputs::CONFIG));
    digest_and_listen(&listener);
    let exported = listener.world.recall(["export"]).out;
    assert!(exported.contains("Mend the list of [REDACTED:customer], which shows loud1."), "{exported}");
}

#[test]
fn what_was_asked_of_the_memory_is_no_memory_whatever_tools_are_left_out() {
    let listener = listener("[signal]\nskip_tools = [\"Grep\"]\n");
    let mut rows = turn(1, "Mend loud1, please.", "loud2 is mended.");
    for (n, server) in ["recall", "plugin_recall_recall", "my-recall"].into_iter().enumerate() {
        rows.uses(n, &serde_json::json!({"name": format!("mcp__{server}__search"), "input": {"query": format!("hush{n}")}}));
        rows.result(n, &format!("error: hushed{n}\n3 passed, 1 failed"), false);
    }
    put(&listener.world, &rows.id, &rows.text);
    assert_eq!(listener.world.recall(["digest"]).code, 0);
    // The transcript has it, and so has `--raw`.
    assert!(listener.calls().iter().all(|call| !call.stdin.contains("hush")));
    let exported = listener.world.recall(["export"]).out;
    assert!(exported.contains("loud2 is mended") && !exported.contains("hush"), "{exported}");
}

#[test]
fn sessions_of_an_excluded_project_are_not_there() {
    let listener = listener("[privacy]\nexclude_projects = [\"/home/dev/src/clinic\", \"**/personal/*\"]\n");
    let ours = turn(1, "Mend loud1, please.", "loud2 is mended.");
    put(&listener.world, &ours.id, &ours.text);
    for (n, folder) in ["/home/dev/src/clinic", "/home/dev/src/clinic/api", "/home/dev/personal/diary"].into_iter().enumerate() {
        let mut rows = Rows::new(2 + n);
        rows.row(json!({"type": "ai-title", "aiTitle": "About hush"}));
        rows.row(json!({"type": "user", "cwd": folder, "message": {"role": "user", "content": format!("Who is hush{n}?")}}));
        rows.row(json!({"type": "assistant", "cwd": folder, "message": {"role": "assistant", "model": "m", "content": [{"type": "text", "text": format!("hushed{n} is a patient.")}]}}));
        let text = rows.text.replace(crate::support::rows::SHOP, folder);
        listener.world.transcript(&format!("{}/{}.jsonl", folder.replace('/', "-"), rows.id), text);
    }
    digest_and_listen(&listener);
}

#[test]
fn a_rule_or_a_pattern_that_is_none_stops_the_run_before_anything_is_stored() {
    for (config, key) in [
        ("[privacy]\nexclude_patterns = ['(']\n", "exclude_patterns"),
        ("[[privacy.rules]]\nid = \"a\"\npattern = '('\nkeywords = [\"a\"]\n", "rules"),
        ("[[privacy.rules]]\nid = \"a\"\ntokens = ['ab[c']\n", "`privacy.rules`: rule `a`: `ab[c`: a set is closed by `]`"),
        ("[[privacy.rules]]\nid = \"a\"\ncommands = ['a']\n", "`privacy.rules`: rule `a`: `a`: a command ends with `<secret>`"),
        ("[[privacy.rules]]\nid = \"a\"\n", "`privacy.rules`: rule `a`: there is no `pattern`"),
        (
            "[privacy]\nexclude_patterns = ['(?i)bluebird|']\n",
            "`(?i)bluebird|` matches every text: all that is stored would be deleted",
        ),
        ("[privacy]\nexclude_patterns = ['bluebird', '']\n", "`` matches every text"),
        ("[privacy]\nexclude_patterns = ['.']\n", "`.` matches every text"),
        ("[privacy]\nexclude_patterns = ['^$', '\\b']\n", "`\\b` matches every text"),
        ("[privacy]\nexclude_paths = ['a{']\n", "exclude_paths"),
        ("[privacy]\nexclude_projects = ['a{']\n", "exclude_projects"),
        ("[privacy]\nexclude_pattern = ['a']\n", "exclude_pattern"),
    ] {
        let listener = listener(config);
        let rows = turn(1, "Mend hush1, please.", "hush2 is mended.");
        put(&listener.world, &rows.id, &rows.text);
        let ran = listener.world.recall(["digest"]);
        assert!(ran.code == 2 && ran.err.contains(key), "{key}: {ran:#?}");
        listener.world.configure("");
        assert_eq!(listener.world.recall(["digest", "--ingest-only"]).code, 0);
        assert!(listener.world.recall(["export"]).out.contains("hush1"), "{key}: the transcript is read when the config is whole");
    }
}

#[test]
fn what_is_named_later_is_gone_from_every_byte() {
    let listener = listener("");
    let rows = of_bluebird();
    put(&listener.world, &rows.id, &rows.text);
    assert_eq!(listener.world.recall(["digest"]).code, 0);
    let calls = listener.calls().len();
    listener.world.configure(&format!("{}[privacy]\nexclude_patterns = ['hush[0-9]+']\n", crate::private::outputs::CONFIG));
    let ran = listener.world.recall(["digest", "--json"]);
    assert!(ran.code < 2, "{ran:#?}");
    // What the model was given before cannot be taken back.
    let again: Vec<_> = listener.calls().into_iter().skip(calls).filter(|call| call.stdin.contains("hush")).collect();
    assert!(again.is_empty(), "{again:#?}");
    let held = crate::support::data_folder::files(&listener.world);
    let hushed = words_of(&listener.world, "hush");
    let left: Vec<_> = held
        .iter()
        .filter(|(_, b)| hushed.iter().any(|w| memchr::memmem::find(b, w.as_bytes()).is_some()))
        .map(|(n, _)| n)
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Each form of a pattern that once meant nothing, in silence.
#[test]
fn a_name_a_variable_and_a_link_mean_the_folder_they_are_written_for() {
    for pattern in ["clinic", "$HOME/clients/**", "~/clients/**", "clients/clinic"] {
        let world = World::new();
        let disk = world.root().canonicalize().expect("a folder").join("disk/clinic");
        std::fs::create_dir_all(&disk).expect("a project");
        std::os::unix::fs::symlink(disk.parent().expect("its parent"), world.home().join("clients")).expect("a link");
        // The client notes where the link leads; a name or a path is looked for where it was noted.
        let noted = if pattern == "clients/clinic" { world.home().join("clients/clinic") } else { disk };
        let rows = turn(1, "Who is hush1?", "hush2 is a patient.")
            .text
            .replace(crate::support::rows::SHOP, noted.to_str().expect("UTF-8"));
        put(&world, &Rows::new(1).id, &rows);
        world.configure(&format!("[privacy]\nexclude_projects = ['{pattern}']\n"));
        world.digest(&["--summarizer", "extract"]);
        let exported = world.recall(["export"]).out;
        assert!(!exported.contains("hush"), "{pattern}: {exported}");
        // It is known, though nothing of it is stored: nobody is told that the pattern means nothing.
        assert_eq!(world.recall(["config"]).err, "", "{pattern}");
    }
}

#[test]
fn a_pattern_that_means_no_project_is_named_and_one_that_cannot_be_meant_is_refused() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    world.configure("[privacy]\nexclude_projects = ['shpo']\nisolate = ['~/clients/**', 'shop']\n");
    let told = world.recall(["config"]).err;
    assert!(
        told.contains("`shpo` in `privacy.exclude_projects`") && told.contains("`~/clients/**` in `privacy.isolate`"),
        "{told}"
    );
    assert_eq!(told.lines().count(), 2, "`shop` is known: {told}");
    let found = world.findings("privacy", &[]);
    assert!(found.len() == 2 && found.iter().all(|one| one.starts_with("warning: ")), "{found:#?}");
    for (list, why) in [("['$CLIENTS/**']", "a variable"), ("['']", "every project"), ("['~bob/x']", "another user's home")] {
        world.configure(&format!("timezone = 'UTC'\n[privacy]\nisolate = {list}\n"));
        let ran = world.recall(["search", "keyset"]);
        assert!(ran.code == 2 && ran.err.contains("config.toml:3: `privacy.isolate`") && ran.err.contains(why), "{list}: {ran:#?}");
    }
}

#[test]
fn the_keys_of_the_former_section_go_on_working_and_are_named() {
    let world = World::with_fixtures(&["plain", "retry"]);
    world.configure("[exclude]\nprojects = ['nothing-like-it']\npaths = ['**/64b0b6d9*']\n");
    world.digest(&["--summarizer", "extract"]);
    let exported = world.recall(["export"]).out;
    assert!(!exported.contains("64b0b6d9-") && exported.lines().count() > 1, "{exported}");
    let told = world.recall(["config"]).err;
    for (old, new) in [("projects", "exclude_projects"), ("paths", "exclude_transcripts")] {
        assert!(told.contains(&format!("`{old}` in [exclude] is called `{new}` in [privacy] now")), "{told}");
    }
    assert_eq!(world.findings("config", &[]).len(), 2);
    world.configure("[privacy]\nexclude_transcripts = ['**/64b0b6d9*']\n");
    assert_eq!(world.recall(["config"]).err, "");
}

/// What kinds of rows are unknown is told by status and doctor; their names are the transcript's.
#[test]
fn unknown_rows_of_an_excluded_project_are_not_named() {
    const EXCLUDED: &str = "[privacy]\nexclude_projects = [\"/home/dev/src/clinic\"]\n";
    let folder = "/home/dev/src/clinic";
    let told = |world: &World| {
        let runs = [["status", "--json"], ["doctor", "--json"]].map(|args| world.recall(args).out);
        runs.map(|out| (out.contains("hush-row"), out.contains("loud-row")))
    };
    for before in ["", EXCLUDED] {
        let world = World::new();
        world.configure(before);
        for (n, word) in [(1, "hush"), (2, "loud")] {
            let mut rows = turn(n, "Mend it, please.", "It is mended.");
            rows.row(json!({"type": format!("{word}-row")}));
            let text = if word == "hush" { rows.text.replace(crate::support::rows::SHOP, folder) } else { rows.text };
            put(&world, &rows.id, &text);
        }
        world.digest(&["--summarizer", "extract"]);
        assert_eq!(told(&world), [(before.is_empty(), true); 2], "{before}");
        world.configure(EXCLUDED);
        assert_eq!(told(&world), [(false, true); 2], "from the moment the config says so");
        world.digest(&["--summarizer", "extract"]);
        assert_eq!(told(&world), [(false, true); 2], "after the next digest");
    }
}
