//! What whole runs cost in instructions, one thread at a time: the same figure on any load, so that a change can be held against the last
//! one that was kept in `benches/history.csv`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const MOST: f64 = 1.10;
const HEADING: &str = "commit,measure,instructions";

/// Instructions of a command that says something, as callgrind counts them.
pub fn count(command: &Command) -> u64 {
    let mut counted = Command::new("valgrind");
    counted.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=2"]).arg(command.get_program());
    counted.args(command.get_args()).env_clear().stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            counted.env(name, value);
        }
    }
    let ran = counted.output().expect("valgrind is installed");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && !ran.stdout.is_empty(), "{command:?} did not do its work: {said}");
    let count = said.lines().find_map(|line| line.split("Collected :").nth(1)).and_then(|count| count.trim().parse().ok());
    count.unwrap_or_else(|| panic!("callgrind counts nothing of {command:?}: {said}"))
}

/// The measures with what they took when they were kept last.
pub fn last_kept(history: &Path) -> Vec<(String, u64)> {
    let text = fs::read_to_string(history).unwrap_or_default();
    let mut last: Vec<(String, u64)> = Vec::new();
    for line in text.lines().skip(1) {
        let [_, measure, count] = line.split(',').collect::<Vec<_>>()[..] else { panic!("no line of a history: {line}") };
        let count = count.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
        match last.iter_mut().find(|(known, _)| known == measure) {
            Some((_, kept)) => *kept = count,
            None => last.push((measure.to_owned(), count)),
        }
    }
    last
}

/// Does a measure take more than a tenth more than was kept of it?
pub fn has_grown(count: u64, kept: u64) -> bool {
    count as f64 > kept as f64 * MOST
}

/// Adds lines for a commit.
pub fn keep(history: &Path, commit: &str, all: &[(String, u64)]) {
    let mut text = fs::read_to_string(history).unwrap_or_else(|_| format!("{HEADING}\n"));
    for (measure, count) in all {
        text += &format!("{commit},{measure},{count}\n");
    }
    fs::write(history, text).expect("the history can be written");
}
