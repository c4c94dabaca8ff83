//! `recall install --agent X --mcp`: the server in the file of another agent, in its form.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::fakes::everything;
use crate::support::{Ran, World};

/// An agent, its file of servers, and what may be in it: nothing, and what its user wrote.
struct Host {
    agent: &'static str,
    name: &'static str,
    path: &'static str,
    written: [&'static str; 2],
}

const GEMINI: Host = Host {
    agent: "gemini",
    name: "Gemini CLI",
    path: ".gemini/settings.json",
    written: [
        "{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}}",
        "{\n  \"mcpServers\": {},\n  \"hooks\": {}\n}\n",
    ],
};
const QWEN: Host = Host {
    agent: "qwen-code",
    name: "Qwen Code",
    path: ".qwen/settings.json",
    written: ["{\"mcpServers\":{\"tickets\":{\"url\":\"https://x\"}},\"$version\":4}", "{\n\t\"hooks\": {\"Stop\": []}\n}"],
};
const COPILOT: Host = Host {
    agent: "copilot-cli",
    name: "Copilot CLI",
    path: ".copilot/mcp-config.json",
    written: [
        "{\"mcpServers\":{}}",
        "{\n  \"mcpServers\": {\n    \"tickets\": {\"type\": \"http\", \"url\": \"https://x\"}\n  }\n}\n",
    ],
};
const CODEX: Host = Host {
    agent: "codex",
    name: "Codex",
    path: ".codex/config.toml",
    written: [
        "model = \"gpt-5.5\" # mine",
        "[mcp_servers.tickets]\nurl = \"https://x\"\n\n[projects.\"/src/shop\"]\ntrust_level = \"trusted\"\n",
    ],
};
const CURSOR: Host = Host {
    agent: "cursor",
    name: "Cursor",
    path: ".cursor/mcp.json",
    written: ["{\"mcpServers\":{}}", "{\n  \"mcpServers\": {\n    \"tickets\": { \"url\": \"https://x\" }\n  }\n}\n"],
};
const OPENCODE: Host = Host {
    agent: "opencode",
    name: "OpenCode",
    path: ".config/opencode/opencode.json",
    written: [
        "{\"$schema\":\"https://opencode.ai/config.json\",\"mcp\":{}}",
        "{\n  // mine, #1\n  \"model\": \"x/y\",\n  \"mcp\": {\n    // no tickets, #2\n    \"tickets\": { \"type\": \"remote\", \"url\": \"https://x\" }, // yet\n  },\n  /* the end */\n}\n",
    ],
};
const HOSTS: [&Host; 6] = [&GEMINI, &QWEN, &COPILOT, &CODEX, &CURSOR, &OPENCODE];

impl Host {
    fn file(&self, world: &World) -> PathBuf {
        world.home().join(self.path)
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

    /// What stands under our name.
    fn entry(&self, world: &World) -> Value {
        let text = self.text(world);
        match self.agent {
            "codex" => {
                let table: toml::Table = text.parse().unwrap_or_else(|e| panic!("{e}: {text}"));
                serde_json::to_value(&table["mcp_servers"]["recall"]).expect("JSON")
            }
            _ => parsed(&text)[self.servers()]["recall"].clone(),
        }
    }

    /// What its servers stand under.
    fn servers(&self) -> &'static str {
        if self.agent == "opencode" { "mcp" } else { "mcpServers" }
    }

    fn expected(&self, world: &World) -> Value {
        if self.agent == "opencode" {
            let environment = json!({"RECALL_DATA_DIR": world.data_dir()});
            return json!({"type": "local", "command": [world.program(), "mcp"], "environment": environment});
        }
        let mut entry = json!({"command": world.program(), "args": ["mcp"], "env": {"RECALL_DATA_DIR": world.data_dir()}});
        if self.agent == "copilot-cli" {
            entry["type"] = json!("local");
            entry["tools"] = json!(["*"]);
        }
        entry
    }

    /// The findings of the doctor that concern it.
    fn findings(&self, world: &World) -> Vec<String> {
        let all = world.findings("mcp", &[]).into_iter();
        all.filter(|found| found.contains(self.name) || found.contains(self.path)).collect()
    }
}

/// JSON that may have comments on lines of their own or at the end of one, and commas behind the last member.
pub fn parsed(text: &str) -> Value {
    let comments = regex::Regex::new(r"(?m)(^|[ \t,])//.*$|/\*.*?\*/").expect("a pattern");
    let commas = regex::Regex::new(r",(\s*[}\]])").expect("a pattern");
    let strict = commas.replace_all(&comments.replace_all(text, "$1"), "$1").into_owned();
    serde_json::from_str(&strict).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn it_goes_into_the_agents_own_file_and_out_again_byte_for_byte() {
    for host in HOSTS {
        for before in [None, Some(host.written[0]), Some(host.written[1])] {
            let world = World::new();
            world.recall(["status"]);
            before.into_iter().for_each(|text| host.write(&world, text));
            let was = everything(&world);
            let shown = host.install(&world, &["--mcp", "--dry-run"]);
            assert!(shown.code == 0 && shown.out.contains("mcp") && shown.out.contains(host.path), "{shown:#?}");
            assert_eq!(everything(&world), was, "a dry run changes nothing");

            let ran = host.install(&world, &["--mcp"]);
            let line = format!("mcp       {}: registered", host.file(&world).display());
            assert!(ran.code == 0 && ran.out.lines().any(|told| told == line), "{ran:#?}");
            assert!(!ran.err.contains("mcp add"), "nothing is left to type: {ran:#?}");
            assert_eq!(host.entry(&world), host.expected(&world), "{}", host.agent);
            let now = host.text(&world);
            // Once it is there, nobody has to ask for it.
            for again in [host.install(&world, &["--mcp"]), host.install(&world, &[])] {
                assert!(again.code == 0 && again.out.contains("already registered"), "{again:#?}");
                assert_eq!(host.text(&world), now);
            }
            let shown = world.recall(["uninstall", "--dry-run"]);
            assert!(shown.out.contains("mcp") && host.text(&world) == now, "{shown:#?}");
            let gone = world.recall(["uninstall"]);
            assert_eq!((gone.code, everything(&world)), (0, was), "{}: {before:?}", host.agent);
        }
    }
}

#[test]
fn an_agent_alone_is_taken_out_and_what_it_wrote_since_stays() {
    for host in HOSTS {
        let world = World::new();
        host.write(&world, host.written[1]);
        assert_eq!(host.install(&world, &[]).code, 0);
        assert_eq!(host.install(&world, &["--mcp"]).code, 0, "the server comes later than the hooks");
        let text = host.text(&world);
        let later = match host.agent {
            "codex" => text + "\n[mcp_servers.recall.tools.search]\napproval_mode = \"approve\"\n\n[tui]\ntheme = \"dark\"\n",
            _ => text.replacen('{', "{\n  \"theme\": \"dark\",", 1),
        };
        host.write(&world, &later);
        let ran = world.recall(["uninstall", "--agent", host.agent]);
        let left = host.text(&world);
        assert!(ran.code == 0 && left.contains("dark") && !left.contains("recall"), "{}: {ran:#?}\n{left}", host.agent);
        let expected = match host.agent {
            "codex" => format!("{}\n[tui]\ntheme = \"dark\"\n", host.written[1]),
            _ => host.written[1].replacen('{', "{\n  \"theme\": \"dark\",", 1),
        };
        assert_eq!(left.split_whitespace().collect::<Vec<_>>(), expected.split_whitespace().collect::<Vec<_>>());
    }
}

#[test]
fn a_server_of_our_name_that_is_anothers_stays_and_nothing_is_installed() {
    for host in HOSTS {
        let world = World::new();
        world.link_recall();
        let theirs = match host.agent {
            "codex" => "[mcp_servers.recall]\ncommand = \"total-recall\"\nargs = [\"serve\"]\n",
            "opencode" => "{\"mcp\": {\"recall\": {\"type\": \"local\", \"command\": [\"total-recall\", \"serve\"]}}} // theirs\n",
            _ => "{\"mcpServers\": {\"recall\": {\"command\": \"total-recall\", \"args\": [\"serve\"]}}}\n",
        };
        host.write(&world, theirs);
        world.recall(["status"]);
        let was = everything(&world);
        let ran = host.install(&world, &["--mcp"]);
        let place = format!("{}:1:", host.file(&world).display());
        assert!(ran.code == 2 && ran.err.contains(&place) && ran.err.contains("another program's server"), "{ran:#?}");
        assert_eq!(everything(&world), was, "{}", host.agent);
        // Without it all is well, and the doctor says why it is not there.
        assert_eq!(host.install(&world, &[]).code, 0);
        let found = host.findings(&world);
        assert!(found.len() == 1 && found[0].starts_with("ok: ") && found[0].contains("another program's server"), "{found:?}");
        assert_eq!(world.recall(["uninstall"]).code, 0);
        assert_eq!(host.text(&world), theirs);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_located_and_stays() {
    for (host, text) in
        [(&CODEX, "model = \n# recall\n"), (&COPILOT, "{ \"mcpServers\": // recall\n {}}\n"), (&QWEN, "{ \"recall\": \n")]
    {
        let world = World::new();
        host.write(&world, text);
        let ran = host.install(&world, &["--mcp"]);
        assert!(ran.code == 2 && ran.err.contains(&format!("{}:", host.file(&world).display())), "{ran:#?}");
        assert_eq!(host.text(&world), text);
        assert!(world.recall(["uninstall"]).code < 2);
        assert_eq!(host.text(&world), text);
    }
}

#[test]
fn the_doctor_names_it_and_mends_what_is_outdated() {
    for host in HOSTS {
        let world = World::new();
        world.link_recall();
        assert_eq!(host.findings(&world), [""; 0], "an agent that nobody uses");
        assert_eq!(host.install(&world, &[]).code, 0);
        let told = format!("ok: not registered with {}: `recall install --agent {} --mcp`", host.name, host.agent);
        let found = host.findings(&world);
        assert!(found.len() == 1 && found[0].starts_with(&told), "{found:?}");
        assert_eq!(host.install(&world, &["--mcp"]).code, 0);
        let found = host.findings(&world);
        assert!(found.len() == 1 && found[0].starts_with("ok: ") && found[0].contains("registered as `recall`"), "{found:?}");
        let (right, entry) = (host.text(&world), host.entry(&world));
        let program = if entry["command"].is_array() { &entry["command"][0] } else { &entry["command"] };
        host.write(&world, &right.replace(&program.to_string(), "\"/gone/recall\""));
        assert_ne!(host.text(&world), right);
        let found = host.findings(&world);
        assert!(found.len() == 1 && found[0].starts_with("problem: ") && found[0].contains("/gone/recall is gone"), "{found:?}");
        world.recall(["doctor", "--fix"]);
        assert_eq!(host.text(&world), right, "{}", host.agent);
        // Other folders than before.
        host.write(&world, &right.replace("RECALL_DATA_DIR", "RECALL_CONFIG"));
        assert!(host.findings(&world)[0].starts_with("warning: "));
        world.recall(["doctor", "--fix"]);
        assert_eq!(host.entry(&world), entry, "{}", host.agent);
    }
}

#[test]
fn a_folder_that_only_a_variable_named_is_found_again_without_it() {
    for (host, variable) in [(&QWEN, "QWEN_HOME"), (&CODEX, "CODEX_HOME")] {
        let world = World::new();
        let folder = world.root().join("elsewhere");
        let named = [(variable, folder.to_str().expect("UTF-8"))];
        let ran = world.recall_with(["install", "--agent", host.agent, "--timer", "none", "--mcp"], &named);
        let file = folder.join(host.file(&world).file_name().expect("a name"));
        let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
        assert!(text.contains("recall") && !host.file(&world).exists(), "{text}");
        // Its agent wrote it anew.
        let more = if host.agent == "codex" {
            text + "\n[tui]\ntheme = \"dark\"\n"
        } else {
            text.replacen('{', "{\n  \"theme\": \"dark\",", 1)
        };
        fs::write(&file, more).expect("the file");
        assert_eq!(world.recall(["uninstall"]).code, 0);
        let left = fs::read_to_string(&file).expect("the file");
        assert!(left.contains("dark") && !left.contains("recall"), "{left}");
    }
}

#[test]
fn the_permission_is_for_claude_code_alone() {
    for host in HOSTS {
        let world = World::new();
        world.recall(["status"]);
        let was = everything(&world);
        let ran = host.install(&world, &["--mcp", "--allow"]);
        assert!(ran.code == 2 && ran.err.contains("`--allow` is for Claude Code alone"), "{ran:#?}");
        assert_eq!(everything(&world), was, "{}", host.agent);
    }
}

#[test]
fn a_session_that_overwrites_what_is_claude_codes_brings_nothing_to_other_agents() {
    let world = World::new();
    world.link_recall();
    assert_eq!(world.recall(["install", "--timer", "none", "--mcp"]).code, 0);
    assert_eq!(COPILOT.install(&world, &[]).code, 0);
    fs::write(world.claude_dir().join(".claude.json"), "{\"numStartups\": 1}").expect("what a session had read before");
    world.recall(["doctor", "--fix"]);
    let claudes = fs::read_to_string(world.claude_dir().join(".claude.json")).expect("the client's file");
    assert!(claudes.contains("\"recall\"") && !COPILOT.file(&world).exists(), "{claudes}");
}

#[test]
fn of_two_files_the_one_with_comments_counts_and_then_the_one_that_has_it() {
    let world = World::new();
    world.recall(["status"]);
    let jsonc = OPENCODE.file(&world).with_extension("jsonc");
    OPENCODE.write(&world, "{}\n");
    let commented = "// mine\n{\n  \"model\": \"x/y\", // the one that works\n}\n";
    fs::write(&jsonc, commented).expect("a file");
    assert_eq!(OPENCODE.install(&world, &["--mcp"]).code, 0);
    let text = fs::read_to_string(&jsonc).expect("a file");
    assert!(text.starts_with("// mine\n") && text.contains("// the one that works") && text.contains("\"recall\""), "{text}");
    assert_eq!(OPENCODE.text(&world), "{}\n");
    assert_eq!(world.recall(["uninstall", "--agent", "opencode"]).code, 0);
    assert_eq!(fs::read_to_string(&jsonc).expect("a file"), commented);
    // One that came later does not hide it.
    fs::remove_file(&jsonc).expect("it is there");
    assert_eq!(OPENCODE.install(&world, &["--mcp"]).code, 0);
    fs::write(&jsonc, commented).expect("a file");
    assert!(OPENCODE.install(&world, &["--mcp"]).out.contains("already registered"));
    assert_eq!(world.recall(["uninstall", "--agent", "opencode"]).code, 0);
    assert_eq!((OPENCODE.text(&world).as_str(), fs::read_to_string(&jsonc).expect("a file").as_str()), ("{}\n", commented));
}
