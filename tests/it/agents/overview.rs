//! What `recall status` and `recall doctor` say of each agent of this machine.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::{codex, gemini};
use crate::support::answers::at_terminal;
use crate::support::{World, age, files_below, user};

fn agents(world: &World, command: &str) -> Vec<Value> {
    let ran = world.recall([command, "--json"]);
    let reply: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
    reply["agents"].as_array().expect("agents").clone()
}

/// What is known of one, which both commands say.
fn agent(world: &World, key: &str) -> Value {
    let of = |command: &str| agents(world, command).into_iter().find(|agent| agent["agent"] == key);
    let (status, doctor) = (of("status"), of("doctor"));
    assert_eq!(status, doctor);
    status.unwrap_or_default()
}

/// Its line, which both commands have.
fn line(world: &World, name: &str) -> String {
    let of = |command: &str| {
        let out = world.recall_with([command], &[("COLUMNS", "1000")]).out;
        let line =
            out.lines().find_map(|line| line.find(&format!("{name}: ")).filter(|at| *at <= 17).map(|at| line[at..].to_owned()));
        line.unwrap_or_else(|| panic!("{command}: {out}"))
    };
    let status = of("status");
    assert_eq!(status, of("doctor"));
    status
}

#[test]
fn each_agent_has_a_line_with_what_is_read_of_it_and_what_it_has_of_ours() {
    let world = codex::world("0.169.0");
    assert_eq!(agent(&world, "windsurf"), Value::Null, "it is not used here");
    let unread = json!({
        "agent": "codex", "tier": "full", "sessions": 0, "last_at": null, "waiting": 0, "hooks": "missing", "mcp": "missing", "for_model": false,
        "sent_to": null,
    });
    assert_eq!(agent(&world, "codex"), unread);
    world.digest(&["--ingest-only"]);
    let read = agent(&world, "codex");
    assert!(read["last_at"].is_i64() && read["sessions"] == 5 && read["waiting"] == 5, "{read}");
    let told = line(&world, "Codex");
    assert!(told.starts_with("Codex: 5 sessions, last 2026-"), "{told}");
    assert!(told.ends_with(", 5 waiting for a digest; full; no hooks; no MCP server"), "{told}");

    world.digest(&[]);
    for agent in [&["codex", "--mcp"][..], &["windsurf"]] {
        let ran = world.recall([&["install", "--timer", "none", "--agent"], agent].concat());
        assert_eq!(ran.code, 0, "{ran:#?}");
    }
    let told = line(&world, "Codex");
    assert!(
        told.ends_with("; full; hooks installed; MCP server installed; hooks not accepted yet") && !told.contains("waiting"),
        "{told}"
    );
    let told = line(&world, "Windsurf");
    let parts = "MCP and a rule; hooks installed; MCP server installed; rule installed";
    assert_eq!(told, format!("Windsurf: 0 sessions; {parts}"));
    assert_eq!(
        agent(&world, "windsurf"),
        json!({
            "agent": "windsurf", "tier": "mcp_and_rule", "sessions": 0, "last_at": null, "waiting": 0, "hooks": "installed", "mcp": "installed",
            "rule": "installed", "for_model": false, "sent_to": null,
        })
    );

    let hooks = world.home().join(".codex/hooks.json");
    let text = fs::read_to_string(&hooks).expect("the hooks");
    fs::write(&hooks, text.replace("recall' hook", "gone/recall' hook")).expect("hooks of another program");
    assert_eq!(agent(&world, "codex")["hooks"], "outdated");
    fs::write(&hooks, "{").expect("half a file");
    assert_eq!(agent(&world, "codex")["hooks"], "broken");
}

/// Claude Code and Codex were used, and there is a `claude` that does nothing.
fn with_two() -> World {
    let world = codex::world("0.55.0");
    world.transcript("-home-u-kitchen/s1.jsonl", user("s1", "u1", "2026-11-20T09:00:00Z", "Add a spoon to the kitchen"));
    world.fake_claude("#!/bin/sh\nexit 1\n");
    world
}

const ASKS: &str = "Codex: stays here; `model = true` under `[sources.codex]` would send it to `claude -p`";

#[test]
fn it_is_told_whose_words_go_to_which_model() {
    let world = with_two();
    let dry = || world.recall(["digest", "--dry-run"]).out;
    let shown = || world.recall(["status"]).out;
    let sent = || {
        let ran = world.recall(["digest", "--dry-run", "--json"]);
        let plan: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
        plan["agents"].clone()
    };
    let plan = dry();
    assert!(plan.contains("\n                new sessions: 1 of Claude Code, 4 of Codex\n"), "{plan}");
    let both = format!("what goes where Claude Code: digests by haiku through `claude -p`\n                {ASKS}\n");
    assert!(plan.contains(&both), "{plan}");
    let told = [("claude-code", 1, json!("haiku")), ("codex", 4, Value::Null)];
    let told = told.map(|(agent, new, model)| json!({"agent": agent, "sessions_new": new, "sent_to": model}));
    assert_eq!(sent(), json!(told));
    let both = format!("model       Claude Code: digests by haiku through `claude -p`\n            {ASKS}\n");
    assert!(shown().contains(&both), "{}", shown());

    world.configure("[sources.codex]\nmodel = true\n[digest]\nmodel = \"opus\"\n");
    for told in [dry(), shown()] {
        assert!(told.contains("Codex: digests by opus through `claude -p`\n"), "{told}");
    }
    assert_eq!((sent()[1]["sent_to"].clone(), agent(&world, "codex")["sent_to"].clone()), (json!("opus"), json!("opus")));
    world.configure("[digest]\nsummarizer = \"extract\"\n");
    assert!(shown().contains("Claude Code: stays here; `digest.summarizer` is `extract`\n"), "{}", shown());
    assert!(dry().contains("Codex: stays here; the model was not asked for\n"), "{}", dry());
    world.configure("");
    fs::remove_file(world.bin().join("claude")).expect("no claude");
    assert!(shown().contains("Codex: stays here; there is no `claude` on the PATH\n"), "{}", shown());
    assert_eq!(sent()[0]["sent_to"], Value::Null);
}

#[test]
fn an_install_on_a_terminal_says_how_to_let_the_model_see_other_agents_until_the_config_says_something() {
    const INSTALL: [&str; 3] = ["install", "--timer", "none"];
    let world = with_two();
    let install = |more: &[&str]| at_terminal(&world, world.root(), &[&INSTALL[..], more].concat()).shown;
    let asked = install(&[]);
    assert!(asked.contains("No model sees what was said in sessions of Codex") && asked.contains("[sources.codex]"), "{asked}");
    for (said, shown) in [("--yes", install(&["--yes"])), ("--dry-run", install(&["--dry-run"]))] {
        assert!(!shown.contains("No model sees"), "{said}: {shown}");
    }
    assert!(!world.recall(INSTALL).out.contains("No model sees"), "there is no terminal");
    // The lines are what the config file wants.
    world.configure("[sources.codex]\nmodel = true\n");
    assert_eq!(agent(&world, "codex")["for_model"], true);
    assert!(!install(&[]).contains("No model sees"));
    world.configure("[sources.codex]\nmodel = false\n");
    assert!(!install(&[]).contains("No model sees"));
    world.configure("");
    fs::remove_file(world.bin().join("claude")).expect("no claude");
    assert!(!install(&[]).contains("No model sees"), "there is no model");
}

#[test]
fn an_agent_that_runs_the_hooks_of_claude_code_has_what_claude_code_has() {
    let world = World::new();
    fs::create_dir_all(world.home().join(".config/Code/User/workspaceStorage")).expect("the editor's folder");
    let told = |part: &str| agent(&world, "vscode-copilot")[part].clone();
    assert_eq!((told("tier"), told("hooks")), (json!("start_only"), json!("missing")));
    world.recall(["install", "--timer", "none"]);
    assert_eq!((told("hooks"), told("mcp")), (json!("installed"), json!("missing")));
    assert_eq!(agent(&world, "claude-code")["hooks"], "installed");
}

#[test]
fn only_agents_that_delete_transcripts_have_a_deadline() {
    let found = |world: &World| world.findings("transcripts", &[]).remove(0);
    let old = |world: &World, home: &str| {
        let files = files_below(&world.home().join(home));
        files.iter().for_each(|file| age(file, Duration::from_secs(28 * 86_400)));
    };
    let of_codex = codex::world("0.55.0");
    old(&of_codex, ".codex");
    assert_eq!(found(&of_codex), "ok: 5 of 5 have lines that no digest has read (5 of Codex)");
    let prompt = user("s1", "u1", "2026-11-20T09:00:00Z", "Add a spoon to the kitchen");
    of_codex.transcript("-home-u-kitchen/s1.jsonl", prompt);
    let both = found(&of_codex);
    assert!(
        both.starts_with("ok: 6 of 6 have lines that no digest has read (1 of Claude Code, 5 of Codex); Claude Code "),
        "{both}"
    );
    assert!(both.ends_with("deletes the oldest in 30 days"), "{both}");

    let of_gemini = gemini::GEMINI.world(gemini::VERSION);
    old(&of_gemini, ".gemini");
    let soon = found(&of_gemini);
    assert!(soon.starts_with("problem: ") && soon.ends_with("; Gemini CLI deletes the oldest in 2 days"), "{soon}");
    let settings = of_gemini.home().join(".gemini/settings.json");
    fs::write(&settings, json!({"general": {"sessionRetention": {"enabled": true, "maxAge": "90d"}}}).to_string())
        .expect("settings");
    assert!(found(&of_gemini).ends_with("; Gemini CLI deletes the oldest in 62 days"));
    fs::write(&settings, json!({"general": {"sessionRetention": {"maxAge": "72h"}}}).to_string()).expect("settings");
    assert!(found(&of_gemini).ends_with("; Gemini CLI deletes the oldest at its next start"));
    fs::write(&settings, json!({"general": {"sessionRetention": {"enabled": false}}}).to_string()).expect("settings");
    assert!(found(&of_gemini).starts_with("ok: ") && !found(&of_gemini).contains("deletes"));
}

#[test]
fn an_agent_is_known_by_every_name_that_it_goes_by() {
    let world = World::new();
    fs::create_dir_all(world.home().join(".config/Code/User/workspaceStorage")).expect("the editor's folder");
    let install = |name: &str| world.recall(["install", "--timer", "none", "--dry-run", "--mcp", "--agent", name]);
    for name in ["vscode", "VS Code", "vs-code", "copilot-chat"] {
        let ran = install(name);
        assert!(ran.code == 0 && ran.out.contains("/Code/User/mcp.json"), "{name}: {ran:#?}");
    }
    for name in ["claude", "ClaudeCode"] {
        assert!(install(name).out.contains(&format!("{}", world.claude_dir().join("settings.json").display())), "{name}");
    }
    // Of two Copilots the name is that of the program, and which one is used here is said.
    let ran = install("copilot");
    assert!(ran.out.contains("/.copilot/hooks/recall.json") && ran.err.contains("`--agent vscode-copilot` names it"), "{ran:#?}");
    fs::create_dir_all(world.home().join(".copilot/session-state")).expect("its folder");
    assert!(!install("copilot").err.contains("vscode-copilot"));
    let unknown = install("vim");
    for name in
        ["claude-code (claude, claudecode)", "vscode-copilot (vscode, vs-code, vs-code-copilot, copilot-chat)", "antigravity", "pi"]
    {
        assert!(unknown.code == 2 && unknown.err.contains(name), "{name}: {unknown:#?}");
    }
    let ran = world.recall(["list", "--agent", "vim"]);
    assert!(ran.err.contains("copilot-cli (copilot, github-copilot)") && ran.err.contains("windsurf"), "{ran:#?}");
}
