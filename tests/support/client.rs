//! The real client in a world of its own: a small project, a stand-in for the Messages API, `claude` and `recall` on the search path.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::messages_api::{Asked, Block, MessagesApi};
use crate::support::{Ran, World, files_below};

/// The key the stand-in takes: any.
const KEY: &str = "sk-ant-dummy-not-real";

pub struct Client {
    pub world: World,
    pub api: MessagesApi,
}

impl Client {
    /// RECALL_TEST_CLAUDE names the client's binary; `.ci/install-client DIR` installs it.
    pub fn new(script: impl Fn(&Asked) -> Vec<Block> + Send + 'static) -> Self {
        let client = Self { world: World::new(), api: MessagesApi::start(script) };
        let binary = std::env::var_os("RECALL_TEST_CLAUDE").expect("RECALL_TEST_CLAUDE names the client's binary");
        symlink(binary, client.world.bin().join("claude")).expect("the client on the search path");
        fs::create_dir_all(client.project()).expect("the project");
        client
    }

    /// Where the client works.
    pub fn project(&self) -> PathBuf {
        // By its real name: the client writes that into its files.
        self.world.root().canonicalize().expect("the world").join("src/greeter")
    }

    pub fn settings(&self) -> PathBuf {
        self.world.claude_dir().join("settings.json")
    }

    /// Puts the program under test on the search path.
    pub fn with_recall(self) -> Self {
        self.world.link_recall();
        self
    }

    /// All variables of the client and of what it starts. The clock is the real one, as in the files the client writes.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let world = self.world.environment().into_iter().filter(|(name, _)| *name != "RECALL_NOW");
        let service = [
            ("PATH", format!("{}:/usr/bin:/bin", self.world.bin().display())),
            ("ANTHROPIC_BASE_URL", self.api.url()),
            ("ANTHROPIC_API_KEY", KEY.to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ];
        world.chain(service).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The client with these arguments, in the project.
    pub fn claude(&self, args: &[&str]) -> Ran {
        let mut command = assert_cmd::Command::new(self.world.bin().join("claude"));
        command.env_clear().envs(self.environment()).current_dir(self.project()).args(args);
        Ran::of(command.timeout(Duration::from_secs(180)).output().expect("the client starts"))
    }

    /// The client takes a turn without a terminal; the id of its session.
    pub fn turn(&self, prompt: &str, more: &[&str]) -> String {
        self.reported_turn(prompt, more)["session_id"].as_str().expect("an id").to_owned()
    }

    /// The same; all that the client reports of it.
    pub fn reported_turn(&self, prompt: &str, more: &[&str]) -> Value {
        let args = ["-p", prompt, "--model", "haiku", "--output-format", "json", "--allowedTools", "Bash"];
        let ran = self.claude(&[&args, more].concat());
        let told: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
        assert_eq!(told["is_error"], false, "{told:#}");
        told
    }

    /// What the client asks at its first start, answered: for a terminal.
    pub fn settle_in(&self) {
        let tail = &KEY[KEY.len() - 20..];
        let project = self.project().to_str().expect("UTF-8").to_owned();
        let state = json!({
            "hasCompletedOnboarding": true, "theme": "dark",
            "customApiKeyResponses": {"approved": [tail], "rejected": []},
            "projects": {project: {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []}},
        });
        fs::write(self.world.claude_dir().join(".claude.json"), state.to_string()).expect("the client's state");
    }

    /// `recall` in the project, with the client's environment.
    pub fn recall(&self, args: &[&str]) -> Ran {
        self.recall_hearing(args, "")
    }

    /// The same with something on stdin.
    pub fn recall_hearing(&self, args: &[&str], stdin: &str) -> Ran {
        let mut command = self.world.command();
        command.env_clear().envs(self.environment()).current_dir(self.project()).args(args).write_stdin(stdin);
        Ran::of(command.output().expect("recall starts"))
    }

    /// All transcripts, by path.
    pub fn transcripts(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let files = files_below(&self.world.claude_dir().join("projects"));
        files.into_iter().map(|f| (f.clone(), fs::read(f).expect("a transcript"))).collect()
    }
}
