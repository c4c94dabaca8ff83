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
//! digests = "model"                    # by the replies in `replies.jsonl`; "unasked": without their questions
//! index = "embedded"                   # an index made with this config and environment, shared by variants that name the same
//! program = "/path/to/another/recall"  # an earlier one, say; has an index of its own
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use crate::quality::corpus;
use crate::quality::metrics::Answer;
use crate::quality::questions::Question;
use crate::quality::replies;
use crate::support::size::is_whole;
use crate::support::{Ran, World};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Digests {
    #[default]
    Extract,
    Model,
    /// The model's without the questions it thinks somebody may ask later: what those bring is the difference.
    Unasked,
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
    pub index: Option<String>,
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

/// Worlds with the whole corpus digested, by the name of their index.
#[derive(Default)]
pub struct Worlds {
    all: Vec<(String, World)>,
}

impl Worlds {
    pub fn of(&mut self, variant: &Variant) -> &World {
        let own = variant.program.as_ref().map(|_| &variant.name);
        let key = own.or(variant.index.as_ref()).cloned().unwrap_or_else(|| format!("{:?}", variant.digests));
        let at = self.all.iter().position(|(name, _)| *name == key).unwrap_or_else(|| {
            self.all.push((key, variant.world()));
            self.all.len() - 1
        });
        &self.all[at].1
    }
}

/// Where a variant's settings are while it runs.
fn config_file(world: &World) -> PathBuf {
    world.root().join("variant.toml")
}

impl Variant {
    /// A world with the corpus, digested.
    fn world(&self) -> World {
        let world = corpus::world();
        let config = match self.digests {
            Digests::Extract => format!("{}\n[digest]\nsummarizer = \"extract\"\n", self.config),
            Digests::Model => format!("{}\n{}", self.config, replies::stand_in(&world, true)),
            Digests::Unasked => format!("{}\n{}", self.config, replies::stand_in(&world, false)),
        };
        fs::write(config_file(&world), config).expect("the config file");
        let ran = self.run(&world, &["digest", "--settle", "0s"]);
        // A session for which there is no reply gets a digest without the model, which is told as a failure.
        assert!(ran.code < 2, "{ran:#?}");
        if self.digests != Digests::Extract {
            let made = world.count("SELECT count(*) FROM digest WHERE superseded = 0 AND summarizer = 'claude'");
            assert_eq!(usize::try_from(made), Ok(replies::count()), "{}", world.status()["skipped"]);
        }
        world
    }

    fn run(&self, world: &World, args: &[&str]) -> Ran {
        let program = self.program.as_deref().unwrap_or(Path::new(world.program()));
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(world.environment())
            .env("RECALL_CONFIG", config_file(world))
            .envs(&self.env)
            .current_dir(world.root());
        Ran::of(command.args(args).output().expect("recall starts"))
    }

    /// What it answers to each question, in their order.
    pub fn answers(&self, worlds: &mut Worlds, questions: &[Question]) -> Vec<Answer> {
        let world = worlds.of(self);
        fs::write(config_file(world), &self.config).expect("the config file");
        // What it costs to read is measured by some, for a median.
        let is_read = |n: usize| is_whole() || n.is_multiple_of(8);
        questions.par_iter().enumerate().map(|(n, question)| self.search(world, &question.text, is_read(n))).collect()
    }

    /// Asks for the sessions as a script does, and maybe for the text as a person does.
    fn search(&self, world: &World, question: &str, is_read: bool) -> Answer {
        let ask = |json: &[&str]| {
            let mut args: Vec<&str> = vec!["search"];
            args.extend(json);
            args.extend(self.args.iter().map(String::as_str));
            args.extend(["--", question]);
            let ran = self.run(world, &args);
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
        Answer { sessions, bytes: is_read.then(|| ask(&[]).len()) }
    }
}
