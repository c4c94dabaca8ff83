//! `recall install --agent X` for agents that are told by a rule to ask recall: the server, the rule, and the hooks where there are some.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::fakes::everything;
use crate::support::{Ran, World};

const BEGIN: &str = "<!-- >>> recall >>> -->\n";
const END: &str = "<!-- <<< recall <<< -->\n";

/// An agent and its files.
struct Host {
    agent: &'static str,
    name: &'static str,
    rules: &'static str,
    servers: &'static str,
    /// How many characters of its rules it reads.
    limit: usize,
    /// A folder that is there where it is used.
    sign: &'static str,
}

const WINDSURF: Host = Host {
    agent: "windsurf",
    name: "Windsurf",
    rules: ".codeium/windsurf/memories/global_rules.md",
    servers: ".codeium/windsurf/mcp_config.json",
    limit: 6_000,
    sign: ".codeium/windsurf",
};
const ANTIGRAVITY: Host = Host {
    agent: "antigravity",
    name: "Antigravity",
    rules: ".gemini/GEMINI.md",
    servers: ".gemini/config/mcp_config.json",
    limit: 12_000,
    sign: ".gemini/antigravity",
};
const HOSTS: [&Host; 2] = [&WINDSURF, &ANTIGRAVITY];
const HOOKS: &str = ".codeium/windsurf/hooks.json";

impl Host {
    fn file(&self, world: &World) -> PathBuf {
        world.home().join(self.rules)
    }

    fn write(&self, world: &World, text: &str) {
        fs::create_dir_all(self.file(world).parent().expect("a parent")).expect("the folder");
        fs::write(self.file(world), text).expect("the file");
    }

    fn text(&self, world: &World) -> String {
        fs::read_to_string(self.file(world)).expect("the file")
    }

    fn install(&self, world: &World, more: &[&str]) -> Ran {
        world.recall([&["install", "--agent", self.agent, "--timer", "none"], more].concat())
    }

    fn server(&self, world: &World) -> Value {
        let text = fs::read_to_string(world.home().join(self.servers)).expect("the file of servers");
        serde_json::from_str::<Value>(&text).expect("JSON")["mcpServers"]["recall"].clone()
    }

    /// What the doctor finds about its rule.
    fn findings(&self, world: &World) -> Vec<String> {
        world.findings("rules", &[]).into_iter().filter(|found| found.contains(self.rules)).collect()
    }
}

#[test]
fn server_and_rule_come_without_being_asked_for_and_go_byte_for_byte() {
    for host in HOSTS {
        for before in [None, Some(""), Some("# Mine\n\n- Answer in French.\n"), Some("no line end, \u{e4}\r\nat the end")] {
            let world = World::new();
            world.recall(["status"]);
            before.into_iter().for_each(|text| host.write(&world, text));
            let was = everything(&world);
            let shown = host.install(&world, &["--dry-run"]);
            let adds = |what: &str| shown.out.lines().any(|line| line.starts_with('+') && line.contains(what));
            assert!(shown.code == 0 && adds("MCP server `recall`") && adds("\"mcp\""), "{shown:#?}");
            assert!(shown.out.contains(host.rules) && everything(&world) == was, "a dry run changes nothing");

            let ran = host.install(&world, &[]);
            let line = format!("rules     {}: written", host.file(&world).display());
            assert!(ran.code == 0 && ran.out.lines().any(|told| told == line), "{ran:#?}");
            assert!(ran.out.contains(": registered") && !ran.out.contains("starts with notes"), "{ran:#?}");
            assert_eq!(host.server(&world)["args"], json!(["mcp"]), "{}", host.agent);
            let now = host.text(&world);
            let theirs = before.unwrap_or_default();
            assert!(now.starts_with(theirs) && now.ends_with(END) && now.matches(BEGIN).count() == 1, "{now}");
            let all = everything(&world);
            for again in [host.install(&world, &[]), host.install(&world, &["--mcp"])] {
                assert!(
                    again.code == 0 && again.out.contains("already written") && again.out.contains("already registered"),
                    "{again:#?}"
                );
                assert_eq!(everything(&world), all, "twice is once");
            }
            let found = host.findings(&world);
            assert!(
                found.len() == 1
                    && found[0].starts_with("ok: ")
                    && found[0].contains(&format!("tells {} to ask recall", host.name)),
                "{found:?}"
            );
            let shown = world.recall(["uninstall", "--dry-run"]);
            assert!(shown.out.contains("-<!-- >>> recall >>> -->") && everything(&world) == all, "{shown:#?}");
            assert_eq!((world.recall(["uninstall"]).code, everything(&world)), (0, was.clone()), "{}: {before:?}", host.agent);
            // The agent alone, by its name in any case.
            assert_eq!(host.install(&world, &[]).code, 0);
            assert_eq!(world.recall(["uninstall", "--agent", host.name]).code, 0);
            assert_eq!(fs::read_to_string(host.file(&world)).ok().as_deref(), before);
            assert!(!world.home().join(host.servers).exists() && !world.home().join(HOOKS).exists());
        }
    }
}

#[test]
fn what_its_user_wrote_since_stays_around_the_block() {
    for host in HOSTS {
        for (before, early, late) in
            [("first", "first\n", ""), ("first\n", "zero\nfirst\n", "last\n"), ("", "", "last"), ("first", "", "")]
        {
            let world = World::new();
            host.write(&world, before);
            assert_eq!(host.install(&world, &[]).code, 0);
            let text = host.text(&world);
            let block = &text[text.find(BEGIN).expect("the block")..];
            host.write(&world, &format!("{early}{block}{late}"));
            assert_eq!(host.install(&world, &[]).code, 0);
            assert_eq!(host.text(&world), format!("{early}{block}{late}"), "it stays where it stands");
            assert_eq!(world.recall(["uninstall"]).code, 0);
            // The line end that came with the block goes with it.
            let left = if late.is_empty() && before == "first" { early.trim_end().to_owned() } else { format!("{early}{late}") };
            assert_eq!(host.text(&world), left, "{before:?}, {early:?}, {late:?}");
        }
    }
}

#[test]
fn the_doctor_tells_a_rule_that_is_missing_or_changed_and_writes_it_again() {
    for host in HOSTS {
        let world = World::new();
        world.link_recall();
        assert_eq!(host.findings(&world), [""; 0], "an agent that nobody uses");
        fs::create_dir_all(world.home().join(host.sign)).expect("its folder");
        assert_eq!(host.findings(&world), [""; 0]);
        let servers = world.findings("mcp", &[]);
        let told = format!("not registered with {}: `recall install --agent {}` lets it", host.name, host.agent);
        assert!(servers.iter().any(|found| found.contains(&told)), "{servers:?}");
        assert!(!world.findings("hooks", &[]).iter().any(|found| found.contains(host.name)), "it could be told nothing by hooks");

        host.write(&world, "- Mine.\n");
        assert_eq!(host.install(&world, &[]).code, 0);
        let right = host.text(&world);
        for (wrong, why) in [
            ("- Mine.\n".to_owned(), "missing now"),
            (right.replace("`search`", "`find`"), "not the one that this version writes"),
            (right.replacen(BEGIN, &format!("{BEGIN}{BEGIN}"), 1), "without"),
        ] {
            host.write(&world, &wrong);
            let found = host.findings(&world);
            assert!(found.len() == 1 && found[0].contains(why) && !found[0].starts_with("ok"), "{found:?}");
            let told = world.recall(["status"]).out;
            assert!(told.contains(host.rules), "{told}");
            world.recall(["doctor", "--fix"]);
            if why == "without" {
                assert_eq!(host.text(&world), wrong, "where it ends is not known");
                host.write(&world, "- Mine.\n");
                world.recall(["doctor", "--fix"]);
            }
            assert_eq!(host.text(&world), right, "{}", host.agent);
        }
        // Somebody who registered the server alone was not asked.
        assert_eq!(world.recall(["uninstall"]).code, 0);
        let servers = world.home().join(host.servers);
        fs::create_dir_all(servers.parent().expect("a parent")).expect("the folder");
        let entry = json!({"mcpServers": {"recall": {"command": world.program(), "args": ["mcp"]}}});
        fs::write(&servers, entry.to_string()).expect("the file");
        let found = host.findings(&world);
        assert!(found.len() == 1 && found[0].starts_with("ok: ") && found[0].contains("has no rule of recall"), "{found:?}");
    }
}

#[test]
fn a_rule_for_which_there_is_no_room_is_not_written() {
    for host in HOSTS {
        let world = World::new();
        let full = "\u{e4}".repeat(host.limit - 100);
        host.write(&world, &full);
        let ran = host.install(&world, &[]);
        assert!(ran.code == 1 && ran.err.contains(&format!("reads {} characters", host.limit)), "{ran:#?}");
        assert!(ran.out.contains(": not written") && host.text(&world) == full, "{ran:#?}");
        assert_eq!(host.server(&world)["args"], json!(["mcp"]), "it can be asked all the same");
        let found = host.findings(&world);
        assert!(found.len() == 1 && found[0].starts_with("warning: ") && found[0].contains("shorten it"), "{found:?}");
        // Letters count, not bytes.
        let fits = "\u{e4}".repeat(host.limit - 800);
        host.write(&world, &fits);
        assert_eq!(host.install(&world, &[]).code, 0);
        assert!(host.text(&world).ends_with(END));
        assert_eq!(world.recall(["uninstall"]).code, 0);
        assert_eq!(host.text(&world), fits);
    }
}

#[test]
fn a_link_stays_one_and_what_cannot_be_read_stays() {
    for host in HOSTS {
        let world = World::new();
        let real = world.root().join("dotfiles/rules.md");
        fs::create_dir_all(real.parent().expect("a parent")).expect("the folder");
        fs::write(&real, "mine\n").expect("the file");
        fs::create_dir_all(host.file(&world).parent().expect("a parent")).expect("the folder");
        symlink(&real, host.file(&world)).expect("a link");
        assert_eq!(host.install(&world, &[]).code, 0);
        assert!(host.file(&world).is_symlink() && fs::read_to_string(&real).expect("the file").ends_with(END));
        assert_eq!(world.recall(["uninstall"]).code, 0);
        assert!(host.file(&world).is_symlink() && fs::read_to_string(&real).expect("the file") == "mine\n");

        fs::write(&real, b"\xff\xfe no text").expect("the file");
        let was = everything(&world);
        let ran = host.install(&world, &[]);
        assert!(ran.code == 2 && ran.err.contains(":1: not UTF-8") && ran.err.contains("nothing was installed"), "{ran:#?}");
        assert!(!world.home().join(host.servers).exists() && everything(&world).len() <= was.len() + 1, "nothing else came");
        assert_eq!(world.recall(["uninstall"]).code, 0, "there is nothing of ours in it");
        fs::remove_file(host.file(&world)).expect("the link");
        fs::create_dir(host.file(&world)).expect("a folder");
        let ran = host.install(&world, &[]);
        assert!(ran.code == 2 && ran.err.contains(host.rules), "{ran:#?}");
        fs::remove_dir(host.file(&world)).expect("the folder");
        fs::write(host.file(&world), "mine\n").expect("the file");
        fs::set_permissions(host.file(&world), fs::Permissions::from_mode(0o640)).expect("its mode");
        assert_eq!(host.install(&world, &[]).code, 0);
        assert_eq!(fs::metadata(host.file(&world)).expect("the file").permissions().mode() & 0o777, 0o640);
    }
}

#[test]
fn windsurf_gets_the_hook_for_which_it_writes_transcripts() {
    let file = |world: &World| world.home().join(HOOKS);
    for before in [None, Some("{\"hooks\": {\"pre_run_command\": [{\"command\": \"mine\", \"show_output\": true}]}}\n")] {
        let world = World::new();
        world.link_recall();
        world.recall(["status"]);
        if let Some(text) = before {
            fs::create_dir_all(file(&world).parent().expect("a parent")).expect("the folder");
            fs::write(file(&world), text).expect("the file");
        }
        let was = everything(&world);
        let ran = WINDSURF.install(&world, &[]);
        assert!(ran.code == 0 && ran.out.contains("leaves a mark after each reply"), "{ran:#?}");
        let text = fs::read_to_string(file(&world)).expect("the file");
        let hooks: Value = serde_json::from_str(&text).expect("JSON");
        let own = &hooks["hooks"]["post_cascade_response_with_transcript"];
        assert_eq!(hooks.as_object().map(serde_json::Map::len), Some(1), "no version: {text}");
        assert_eq!((own.as_array().map(Vec::len), &own[0]["show_output"]), (Some(1), &json!(false)), "{text}");
        assert_eq!(own[0].as_object().map(serde_json::Map::len), Some(2), "it has no time of ours: {text}");
        assert!(own[0]["command"].as_str().is_some_and(|command| command.ends_with(" hook stop")), "{text}");
        let found = world.findings("hooks", &[]);
        let told = found.iter().filter(|found| found.contains(HOOKS)).collect::<Vec<_>>();
        assert!(told.len() == 1 && told[0].starts_with("ok: "), "{found:?}");
        // Another program than this one is brought up to date, and gets no time then, either.
        fs::write(file(&world), text.replace(world.program(), "/gone/recall")).expect("the file");
        world.recall(["doctor", "--fix"]);
        assert_eq!(fs::read_to_string(file(&world)).expect("the file"), text);
        assert_eq!((world.recall(["uninstall"]).code, everything(&world)), (0, was));
    }
}

#[test]
fn the_rule_names_tools_that_there_are() {
    let world = World::new();
    assert_eq!(WINDSURF.install(&world, &[]).code, 0);
    let text = WINDSURF.text(&world);
    let names: Vec<&str> = text.split('`').skip(1).step_by(2).filter(|name| !name.contains(' ')).collect();
    let documented = include_str!("../../../docs/src/agents.md");
    assert_eq!(names, ["recall", "recall", "search", "get"]);
    assert!(names.iter().all(|name| documented.contains(&format!("| `{name}` | "))), "{names:?}");
}

#[test]
fn both_are_among_all_agents_that_are_used() {
    for host in HOSTS {
        let world = World::new();
        fs::create_dir_all(world.home().join(host.sign)).expect("its folder");
        let ran = world.recall(["install", "--all", "--yes", "--timer", "none"]);
        assert!(ran.code == 0 && ran.out.contains(host.name) && host.text(&world).ends_with(END), "{ran:#?}");
    }
    let world = World::new();
    fs::create_dir_all(world.home().join(".gemini/tmp")).expect("the folder of Gemini CLI");
    let ran = world.recall(["install", "--all", "--yes", "--timer", "none"]);
    assert!(!ran.out.contains("Antigravity") && !ANTIGRAVITY.file(&world).exists(), "{ran:#?}");
}
