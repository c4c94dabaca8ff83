//! With the real clients of Cline, Codex, Copilot CLI, Gemini CLI, OpenCode, Pi and Qwen Code: hooks are installed and, of all but Pi, our server is
//! registered, a session is recorded and digested, and what the next one sends to its model holds the notes and what a call of our `search` found,
//! none of which is read again. A stand-in on loopback is all that they talk to.
//!
//! `.ci/install-agents DIR` installs the clients and prints the folder to put into RECALL_TEST_AGENTS. Tests of a client that is not in it say so
//! and pass.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::support::model_api::{ModelApi, results};
use crate::support::{Ran, World};

const FIRST: &str = "The greeting check fails since this morning: find out why.";
const SECOND: &str = "Where did we leave off on the greeting check that fails?";
/// What is looked for in the second session, and what of the first is found by it.
const QUERY: &str = "greeting check fails";
const FOUND: &str = "fails since this morning";
const NOTES: &str = "Notes from earlier sessions in this project";
const SAID: &str = "The check fails because greeting.txt says helo.";

/// The folder of their programs.
fn clients() -> PathBuf {
    let folder = std::env::var("RECALL_TEST_AGENTS").expect("RECALL_TEST_AGENTS names the folder of the clients");
    PathBuf::from(folder).join("node_modules/.bin")
}

/// A client in a world of its own.
struct Scene {
    world: World,
    api: ModelApi,
    program: &'static str,
    /// What the client is given before a prompt.
    args: &'static [&'static str],
}

/// Pi takes no servers.
fn takes_servers(agent: &str) -> bool {
    agent != "pi"
}

impl Scene {
    /// `None` if the client is not there.
    fn new(program: &'static str, args: &'static [&'static str]) -> Option<Self> {
        if !clients().join(program).exists() {
            // Not by a macro: of a test that passes, those print nothing.
            let line = format!("LEFT OUT: the real client {program}, which is not in RECALL_TEST_AGENTS\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
            return None;
        }
        let scene = Self { world: World::new(), api: ModelApi::saying(SAID), program, args };
        fs::create_dir_all(scene.project().join(".git")).expect("the project");
        scene.world.configure("[hooks]\ndeadline_ms = 5000\n");
        Some(scene)
    }

    fn project(&self) -> PathBuf {
        // By its real name: clients write that into their files.
        self.world.root().canonicalize().expect("the world").join("src/greeter")
    }

    /// Writes a file of the client's own, below the home.
    fn with(self, path: &str, text: &str) -> Self {
        let file = self.world.home().join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("the client's folder");
        fs::write(file, text.replace("STANDIN_URL", &self.api.url())).expect("the client's file");
        self
    }

    /// All variables of the client and of what it starts. The clock is the real one, as in the files that it writes.
    fn environment(&self) -> BTreeMap<String, String> {
        let world = self.world.environment().into_iter().filter(|(name, _)| *name != "RECALL_NOW");
        let own = [
            ("PATH", format!("{}:/usr/bin:/bin", clients().display())),
            ("OPENAI_API_KEY", "dummy-not-real".to_owned()),
            ("OPENAI_BASE_URL", self.api.url()),
            ("OPENAI_MODEL", "stand-in".to_owned()),
            ("COPILOT_PROVIDER_BASE_URL", self.api.url()),
            ("COPILOT_PROVIDER_API_KEY", "dummy-not-real".to_owned()),
            ("COPILOT_MODEL", "gpt-5.4".to_owned()),
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_AUTO_UPDATE", "false".to_owned()),
            ("GEMINI_API_KEY", "dummy-not-real".to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", self.api.root()),
            ("PI_OFFLINE", "1".to_owned()),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
            ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1".to_owned()),
            ("CLINE_NO_AUTO_UPDATE", "1".to_owned()),
            ("TERM", "dumb".to_owned()),
        ];
        world.chain(own).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn recall(&self, args: &[&str]) -> Ran {
        let mut command = self.world.command();
        command.env_clear().envs(self.environment()).current_dir(self.project()).args(args);
        Ran::of(command.output().expect("recall starts"))
    }

    /// The client takes a turn without a terminal; what it sent to its model.
    fn turn(&self, prompt: &str) -> Vec<Value> {
        let mut command = assert_cmd::Command::new(clients().join(self.program));
        command.env_clear().envs(self.environment()).current_dir(self.project()).args(self.args).arg(prompt);
        let ran = Ran::of(command.timeout(Duration::from_secs(180)).output().expect("the client starts"));
        assert!(ran.code == 0 && ran.out.contains(SAID), "{ran:#?}");
        self.api.take_asked()
    }

    /// Hooks and server in, a session, a digest, another session that searches, all out again.
    fn remembers(&self, agent: &str) {
        let before = self.files();
        self.install(agent);
        let installed = self.files();
        assert!(!self.turn(FIRST).is_empty(), "it asked its model");
        let ran = self.recall(&["digest", "--settle", "0s"]);
        assert!(ran.code == 0 && ran.out.contains("1 session"), "{ran:#?}");
        let listed = self.recall(&["list", "--agent", agent]);
        // Some have their model make a title, which says what the stand-in says.
        assert!(["greeting check", SAID].iter().any(|title| listed.out.contains(title)), "{listed:#?}");
        let has_server = takes_servers(agent);
        if has_server {
            self.api.searches(QUERY);
        }
        let asked = self.turn(SECOND);
        let found: Vec<String> = asked.iter().flat_map(results).collect();
        let sent = Value::from(asked).to_string();
        // At its start what was said before, at its prompt what fits.
        assert!(sent.contains(NOTES) && sent.contains(SAID), "{sent}");
        assert!(sent.contains("Quotes from earlier sessions"), "{sent}");
        assert!(!self.api.still_searches(), "its model was offered our tool: {sent}");
        assert_eq!(found.iter().any(|result| result.contains(FOUND)), has_server, "{found:#?}");
        let ran = self.recall(&["digest", "--settle", "0s"]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        let found = self.recall(&["search", "\"Notes from earlier sessions\""]);
        assert_eq!(found.out, "", "what hooks told is nothing that was said");
        self.keeps_nothing_of_the_search();
        self.is_left_as_it_was(agent, &before, &installed);
    }

    fn install(&self, agent: &str) {
        let server: &[&str] = if takes_servers(agent) { &["--mcp"] } else { &[] };
        let ran = self.recall(&[&["install", "--agent", agent, "--timer", "none"], server].concat());
        assert_eq!((ran.code, ran.out.contains(": registered")), (0, takes_servers(agent)), "{ran:#?}");
    }

    /// Of the second session its prompt and its reply are kept, and neither the call nor what it found.
    fn keeps_nothing_of_the_search(&self) {
        let exported = self.recall(&["export"]).out;
        let sessions = exported.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let second: Vec<Value> = sessions.filter(|line| line["session"].is_string() && line.to_string().contains(SECOND)).collect();
        let [second] = &second[..] else { panic!("one session: {exported}") };
        let rows = |source: &Value| source["rows"].as_array().expect("rows").clone();
        let rows: Vec<Value> = second["sources"].as_array().expect("sources").iter().flat_map(rows).collect();
        let of = |kind: &str| rows.iter().filter(|row| row["item"]["kind"] == kind).count();
        assert_eq!((of("prompt"), of("tool"), of("outcome")), (1, 0, 0), "{rows:#?}");
        assert!(!Value::from(rows).to_string().contains(FOUND), "{second:#}");
    }

    /// After the uninstall files are as they were before the install, byte for byte; where the client wrote meanwhile, nothing of ours is left.
    fn is_left_as_it_was(&self, agent: &str, before: &BTreeMap<PathBuf, String>, installed: &BTreeMap<PathBuf, String>) {
        let written: Vec<PathBuf> =
            self.files().into_iter().filter(|(file, text)| installed.get(file) != Some(text)).map(|(file, _)| file).collect();
        let ran = self.recall(&["uninstall", "--agent", agent]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        let after = self.files();
        for file in before.keys().chain(after.keys()).filter(|file| !written.contains(file)) {
            assert_eq!(after.get(file), before.get(file), "{}", file.display());
        }
        for file in written {
            let text = after.get(&file).map(String::as_str).unwrap_or_default();
            let is_left = [" hook session-start", "recall"].iter().any(|ours| text.contains(ours));
            assert!(!is_left, "{}: {text}", file.display());
        }
        assert!(before.keys().all(|file| file.exists()));
    }

    /// The files of the client in which hooks may stand.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let all = [
            ".cline/plugins/recall.js",
            ".cline/data/settings/cline_mcp_settings.json",
            ".codex/hooks.json",
            ".codex/config.toml",
            ".config/opencode/opencode.json",
            ".config/opencode/plugin/recall.js",
            ".copilot/hooks/recall.json",
            ".copilot/mcp-config.json",
            ".gemini/settings.json",
            ".pi/agent/extensions/recall.js",
            ".qwen/settings.json",
        ];
        let all = all.map(|file| self.world.home().join(file));
        all.into_iter().filter_map(|file| Some((file.clone(), fs::read_to_string(file).ok()?))).collect()
    }
}

impl Drop for Scene {
    /// Some clients leave a daemon behind.
    fn drop(&mut self) {
        let home = format!("HOME={}", self.world.home().display());
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let of_world =
                fs::read(process.path().join("environ")).is_ok_and(|all| all.split(|b| *b == 0).any(|one| one == home.as_bytes()));
            if let (true, Some(id)) = (of_world, process.file_name().to_str()) {
                let _ = std::process::Command::new("kill").arg(id).status();
            }
        }
    }
}

#[test]
#[ignore = "needs the real client of Codex: set RECALL_TEST_AGENTS"]
fn codex_starts_its_next_session_with_notes() {
    let Some(scene) = codex() else { return };
    scene.remembers("codex");
}

/// Codex, whose hooks run without the user's word for them.
fn codex() -> Option<Scene> {
    let config = "model = \"gpt-5.5\"\nmodel_provider = \"standin\"\ncheck_for_update_on_startup = false\n[model_providers.standin]\n\
        name = \"standin\"\nbase_url = \"STANDIN_URL\"\nenv_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\n[analytics]\nenabled = false\n";
    // Whoever runs it trusts our hooks in `/hooks`.
    let args = &["exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"];
    Some(Scene::new("codex", args)?.with(".codex/config.toml", config))
}

#[test]
#[ignore = "needs the real client of Codex: set RECALL_TEST_AGENTS"]
fn codex_that_was_not_told_to_trust_our_hooks_runs_none_and_says_nothing() {
    let Some(mut scene) = codex() else { return };
    scene.install("codex");
    scene.turn(FIRST);
    scene.recall(&["digest", "--settle", "0s"]);
    scene.args = &["exec", "--dangerously-bypass-approvals-and-sandbox"];
    let sent = Value::from(scene.turn(SECOND)).to_string();
    assert!(sent.contains(SECOND) && !sent.contains(NOTES) && !sent.contains(SAID), "{sent}");
}

#[test]
#[ignore = "needs the real client of Copilot CLI: set RECALL_TEST_AGENTS"]
fn copilot_cli_starts_its_next_session_with_notes() {
    if let Some(scene) = Scene::new("copilot", &["--allow-all-tools", "--disable-client-telemetry", "-p"]) {
        scene.remembers("copilot-cli");
    }
}

#[test]
#[ignore = "needs the real client of Qwen Code: set RECALL_TEST_AGENTS"]
fn qwen_code_starts_its_next_session_with_notes() {
    let settings = "{\"security\": {\"auth\": {\"selectedType\": \"openai\"}}, \"privacy\": {\"usageStatisticsEnabled\": false},\n \
        \"general\": {\"disableAutoUpdate\": true, \"enableAutoUpdate\": false}}\n";
    if let Some(scene) = Scene::new("qwen", &["-y"]) {
        scene.with(".qwen/settings.json", settings).remembers("qwen-code");
    }
}

#[test]
#[ignore = "needs the real client of Gemini CLI: set RECALL_TEST_AGENTS"]
fn gemini_cli_starts_its_next_session_with_notes() {
    let settings = "{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}, \"folderTrust\": {\"enabled\": false}},\n \
        \"privacy\": {\"usageStatisticsEnabled\": false}, \"general\": {\"disableAutoUpdate\": true, \"enableAutoUpdate\": false}}\n";
    if let Some(scene) = Scene::new("gemini", &["-y", "-p"]) {
        scene.with(".gemini/settings.json", settings).remembers("gemini");
    }
}

#[test]
#[ignore = "needs the real client of Pi: set RECALL_TEST_AGENTS"]
fn pi_starts_its_next_session_with_notes() {
    let models = "{\"providers\": {\"standin\": {\"baseUrl\": \"STANDIN_URL\", \"api\": \"openai-completions\", \"apiKey\": \"dummy-not-real\", \"models\": [\n \
        {\"id\": \"stand-in\", \"name\": \"stand-in\", \"input\": [\"text\"], \"contextWindow\": 128000, \"maxTokens\": 8000}]}}}\n";
    let args = &["--offline", "--provider", "standin", "--model", "stand-in", "-p"];
    if let Some(scene) = Scene::new("pi", args) {
        scene.with(".pi/agent/models.json", models).remembers("pi");
    }
}

#[test]
#[ignore = "needs the real client of OpenCode: set RECALL_TEST_AGENTS"]
fn opencode_starts_its_next_session_with_notes() {
    let config = "{\"autoupdate\": false, \"share\": \"disabled\", \"model\": \"standin/stand-in\", \"small_model\": \"standin/stand-in\",\n \
        \"provider\": {\"standin\": {\"npm\": \"@ai-sdk/openai-compatible\", \"name\": \"standin\",\n  \
        \"options\": {\"baseURL\": \"STANDIN_URL\", \"apiKey\": \"dummy-not-real\"},\n  \
        \"models\": {\"stand-in\": {\"name\": \"stand-in\", \"limit\": {\"context\": 200000, \"output\": 8000}}}}}}\n";
    // Nothing is fetched: what it would install for plugins is not needed.
    let registry = "registry=http://127.0.0.1:9/\nfetch-retries=0\n";
    if let Some(scene) = Scene::new("opencode", &["run"]) {
        scene.with(".config/opencode/opencode.json", config).with(".npmrc", registry).remembers("opencode");
    }
}

#[test]
#[ignore = "needs the real client of Cline: set RECALL_TEST_AGENTS"]
fn cline_starts_its_next_session_with_notes() {
    let Some(scene) = Scene::new("cline", &[]) else { return };
    let mut login = assert_cmd::Command::new(clients().join("cline"));
    let url = scene.api.url();
    login.env_clear().envs(scene.environment()).current_dir(scene.project());
    login.args(["auth", "-p", "openai-compatible", "-k", "dummy-not-real", "-m", "stand-in", "-b", url.as_str()]);
    let ran = Ran::of(login.timeout(Duration::from_secs(60)).output().expect("the client starts"));
    assert_eq!(ran.code, 0, "{ran:#?}");
    scene.remembers("cline");
}
