//! The same of other agents than Claude Code that write files of lines: each recording comes to the pages of one run, wherever its files are cut and
//! in whichever order they come. The parsers alone are tried in `crates/transcripts`, with many more rows.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;

use crate::support::size::runs;
use crate::support::{World, age, files_below, fixtures};

const EDITOR: &str = if cfg!(target_os = "macos") { "Library/Application Support/Code/User" } else { ".config/Code/User" };
const DESKTOP: &str = if cfg!(target_os = "macos") { "Library/Application Support/Claude" } else { ".config/Claude" };

/// The folder of an agent's recordings, and where that agent keeps its files below the home.
const AGENTS: [(&str, &str); 8] = [
    ("codex", ".codex"),
    ("copilot", ".copilot"),
    ("cowork", DESKTOP),
    ("cursor", ".cursor"),
    ("gemini", ".gemini"),
    ("pi", ".pi/agent"),
    ("qwen", ".qwen"),
    ("vscode-copilot", EDITOR),
];

/// A recording by version: its folder, and the agent's home.
fn recordings() -> Vec<(PathBuf, &'static str)> {
    let of = |(folder, home): (&str, &'static str)| {
        let versions = fs::read_dir(fixtures().join(folder)).expect("recordings").map(|entry| entry.expect("a version").path());
        versions.map(move |path| (path, home)).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = AGENTS.into_iter().flat_map(of).collect();
    all.sort();
    all
}

/// Writes the first thousandths of each file of lines, of a file without any nothing; what is no file of lines is whole from the first step on.
fn write(world: &World, (recording, home): &(PathBuf, &str), there: impl Fn(usize) -> usize) {
    for (n, file) in files_below(recording).into_iter().enumerate() {
        let text = fs::read(&file).expect("a file");
        let end = if file.extension().is_some_and(|end| end == "jsonl") { text.len() * there(n) / 1000 } else { text.len() };
        if end > 0 {
            let to = world.home().join(home).join(file.strip_prefix(recording).expect("a fixture"));
            fs::create_dir_all(to.parent().expect("a parent")).expect("the folder");
            fs::write(&to, &text[..end]).expect("a file");
            age(&to, Duration::from_secs(3600));
        }
    }
}

/// How much of a file is there after each of the steps; nothing at first, so that files come in any order.
fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![Just(0usize), 0usize..=1000, Just(1000usize)], 3).prop_map(|mut cuts| {
        cuts.sort_unstable();
        cuts
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: runs(4, 60), failure_persistence: None, max_shrink_iters: 12, ..ProptestConfig::default() })]

    #[test]
    fn any_cuts_and_any_order_make_the_pages_of_one_run(which in any::<prop::sample::Index>(), cuts in prop::collection::vec(cuts(), 24)) {
        let recordings = recordings();
        let recording = which.get(&recordings);
        let at_once = World::new();
        write(&at_once, recording, |_| 1000);
        at_once.digest(&[]);
        let world = World::new();
        for step in 0..=3 {
            write(&world, recording, |file| cuts[file % cuts.len()].get(step).copied().unwrap_or(1000));
            world.digest(&[]);
        }
        prop_assert_eq!(world.pages(), at_once.pages(), "{}", recording.0.display());
    }
}
