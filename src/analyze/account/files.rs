//! Files that edits left behind: neither removed nor moved later, as far as commands show.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::shell::{Call, words};
use crate::model::session::{Item, Millis, Session, StepKind, Touch};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditedFiles {
    /// In the order of the first edit, relative to the project where they lie in it.
    pub edited: Vec<String>,
    /// Those that were edited after the last commit.
    pub after_commit: Vec<String>,
}

/// Folders for scratch, and for what the client keeps itself.
const NO_WORK: [&str; 4] = ["/.claude/projects/", "/.claude/plans/", "/.claude/todos/", "/.claude/scratch"];
const SCRATCH: [&str; 4] = ["/tmp/", "/private/tmp/", "/var/folders/", "/dev/"];

pub(super) fn of(session: &Session, calls: &[Call<'_>], last_commit: Option<Millis>) -> EditedFiles {
    let mut all: Vec<(String, Option<Millis>)> = Vec::new();
    for entry in &session.entries {
        let Item::Tool(tool) = &entry.item else { continue };
        let Some(file) = tool.file.as_ref().filter(|file| file.how != Touch::Read) else { continue };
        if entry.outcome.as_ref().is_some_and(|outcome| !outcome.ok) || is_no_work(&file.path, session) {
            continue;
        }
        let path = session.relative(&file.path).to_owned();
        match all.iter_mut().find(|(known, _)| *known == path) {
            Some((_, at)) => *at = (*at).max(entry.at),
            None => all.push((path, entry.at)),
        }
    }
    for call in calls.iter().filter(|call| !call.failed) {
        for step in call.steps.iter().filter(|step| step.kind == StepKind::Files) {
            apply(&words(step), call.at, &mut all);
        }
    }
    let after = |at: &Option<Millis>| last_commit.is_some_and(|commit| at.is_some_and(|at| at > commit));
    let after_commit = all.iter().filter(|(_, at)| after(at)).map(|(path, _)| path.clone()).collect();
    EditedFiles { edited: all.into_iter().map(|(path, _)| path).collect(), after_commit }
}

fn is_no_work(path: &str, session: &Session) -> bool {
    let in_project = session.cwd.as_deref().is_some_and(|cwd| cwd.len() > 1 && path.starts_with(cwd));
    NO_WORK.iter().any(|part| path.contains(part)) || !in_project && SCRATCH.iter().any(|start| path.starts_with(start))
}

/// Takes out what a command removed before any later edit, and renames what it moved.
fn apply(words: &[String], at: Option<Millis>, all: &mut Vec<(String, Option<Millis>)>) {
    let words = if words.first().is_some_and(|word| word == "git") { &words[1..] } else { words };
    let Some((program, rest)) = words.split_first() else { return };
    let named: Vec<&str> = rest.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let is_earlier = |edited: &Option<Millis>| *edited <= at;
    if program != "mv" {
        all.retain(|(path, edited)| !(is_earlier(edited) && named.iter().any(|name| is_named(path, name))));
        return;
    }
    let [from @ .., to] = &named[..] else { return };
    for (path, edited) in all.iter_mut() {
        if let Some(name) = from.iter().find(|name| is_earlier(edited) && is_named(path, name)) {
            *path = moved(path, name, to, from.len() > 1);
        }
    }
    let mut known = BTreeSet::new();
    all.retain(|(path, _)| known.insert(path.clone()));
}

/// Is this the file, or a folder that it lies in?
fn is_named(path: &str, name: &str) -> bool {
    let name = name.trim_start_matches("./").trim_end_matches('/');
    !name.is_empty()
        && name != "."
        && (path == name
            || path.ends_with(&format!("/{name}"))
            || path.starts_with(&format!("{name}/"))
            || path.contains(&format!("/{name}/")))
}

/// Where a file lies after it, or a folder around it, was moved.
fn moved(path: &str, name: &str, to: &str, many: bool) -> String {
    let name = name.trim_start_matches("./").trim_end_matches('/');
    let Some(at) = path.rfind(name) else { return path.to_owned() };
    let (before, behind) = (&path[..at], &path[at + name.len()..]);
    let last = name.rsplit('/').next().unwrap_or(name);
    let into = many || to.ends_with('/');
    let to = to.trim_start_matches("./").trim_end_matches('/');
    // A path from elsewhere stands for itself.
    let before = if to.starts_with('/') || !path.starts_with('/') && before.is_empty() { "" } else { before };
    if into { format!("{before}{to}/{last}{behind}") } else { format!("{before}{to}{behind}") }
}
