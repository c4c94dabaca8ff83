//! The ways of searching that are compared, and how each is asked.
//!
//! More of them can be named in a file, without a change here: `RECALL_QUALITY_VARIANTS=FILE`, in TOML. Every field but `name` may be left out:
//!
//! ```toml
//! [[variant]]
//! name = "no recency"
//! config = "[search]\nrecency = 0.0"   # the whole config file
//! args = ["--limit", "10"]             # more arguments of `recall search`
//! env = { NAME = "value" }
//! digests = "model"                    # by the scripted replies in `replies/`; else "extract"
//! own_index = true                     # digests anew with this config and environment, instead of sharing the index
//! program = "/path/to/another/recall"  # an earlier one, say; has an index of its own
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use crate::corpus;
use crate::metrics::Answer;
use crate::replies;
use crate::support::{Ran, World};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Digests {
    #[default]
    Extract,
    Model,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    pub name: String,
    #[serde(default)]
    pub config: String,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    #[serde(default)]
    pub digests: Digests,
    #[serde(default)]
    pub own_index: bool,
    #[serde(default)]
    pub program: Option<PathBuf>,
}

/// Those of a file, in its order.
pub fn of_file(file: &Path) -> Vec<Variant> {
    #[derive(Deserialize)]
    struct All {
        variant: Vec<Variant>,
    }
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    toml::from_str::<All>(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display())).variant
}

/// Worlds with the whole corpus digested; variants that need no other index share one.
#[derive(Default)]
pub struct Worlds {
    all: Vec<(String, World)>,
}

impl Worlds {
    pub fn of(&mut self, variant: &Variant) -> &World {
        let own = variant.own_index || variant.program.is_some();
        let key = if own { variant.name.clone() } else { format!("{:?}", variant.digests) };
        let at = self.all.iter().position(|(name, _)| *name == key).unwrap_or_else(|| {
            self.all.push((key, variant.world()));
            self.all.len() - 1
        });
        &self.all[at].1
    }
}

impl Variant {
    /// A world with the corpus, digested.
    fn world(&self) -> World {
        let world = corpus::world();
        let config = match self.digests {
            Digests::Extract => format!("{}\n[digest]\nsummarizer = \"extract\"\n", self.config),
            Digests::Model => format!("{}\n{}", self.config, replies::stand_in(&world)),
        };
        let ran = self.run(&world, &config, &["digest", "--settle", "0s"]);
        // A session for which there is no reply gets a digest without the model, which is told as a failure.
        assert!(ran.code < 2, "{ran:#?}");
        world
    }

    fn run<S: AsRef<std::ffi::OsStr>>(&self, world: &World, config: &str, args: &[S]) -> Ran {
        let file = world.root().join("variant.toml");
        fs::write(&file, config).expect("the config file");
        let program = self.program.as_deref().unwrap_or(Path::new(env!("CARGO_BIN_EXE_recall")));
        let mut command = Command::new(program);
        command.env_clear().envs(world.environment()).env("RECALL_CONFIG", file).envs(&self.env).current_dir(world.root());
        Ran::of(command.args(args).output().expect("recall starts"))
    }

    /// Asks for the sessions as a script does, and for the text as a person does.
    pub fn search(&self, world: &World, question: &str) -> Answer {
        let ask = |json: &[&str]| {
            let mut args: Vec<&str> = vec!["search"];
            args.extend(json);
            args.extend(self.args.iter().map(String::as_str));
            args.extend(["--", question]);
            let ran = self.run(world, &self.config, &args);
            assert_eq!(ran.code, 0, "{question}: {ran:#?}");
            ran.out
        };
        let mut sessions: Vec<String> = Vec::new();
        for line in ask(&["--json"]).lines() {
            let found: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
            let id = found["session"].as_str().unwrap_or_else(|| panic!("no session: {line}")).to_owned();
            if !sessions.contains(&id) {
                sessions.push(id);
            }
        }
        Answer { sessions, bytes: ask(&[]).len() }
    }
}
