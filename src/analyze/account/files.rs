//! Files that edits left behind: neither removed nor moved later, as far as commands show.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::runs::number_at;
use super::shell::{Call, resolved, words};
use super::turns::Turn;
use transcripts::session::{Item, Millis, Session, ShellStep, StepKind, Touch};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditedFiles {
    /// In the order of the first edit, relative to the project where they lie in it.
    pub edited: Vec<String>,
    /// When each of these was edited last.
    #[serde(default)]
    pub(crate) edited_at: Vec<Option<Millis>>,
    /// Those that were edited after the last commit.
    pub after_commit: Vec<String>,
    /// The numbers of the turns in which files were edited, whatever became of these later, each with when that was last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) turns: Vec<(usize, Millis)>,
}

/// Folders for scratch, and for what the client keeps itself.
const NO_WORK: [&str; 4] = ["/.claude/projects/", "/.claude/plans/", "/.claude/todos/", "/.claude/scratch"];
const SCRATCH: [&str; 4] = ["/tmp/", "/private/tmp/", "/var/folders/", "/dev/"];

pub(super) fn of(session: &Session, calls: &[Call<'_>], turns: &[Turn], last_commit: Option<Millis>) -> EditedFiles {
    let mut all: Vec<(String, Option<Millis>)> = Vec::new();
    let mut edited_in: BTreeMap<usize, Millis> = BTreeMap::new();
    for (path, at) in edits(session) {
        if let Some(at) = at {
            let last = edited_in.entry(number_at(turns, Some(at))).or_insert(at);
            *last = at.max(*last);
        }
        let path = session.relative(path);
        match all.iter_mut().find(|(known, _)| known == path) {
            Some((_, known)) => *known = (*known).max(at),
            None => all.push((path.to_owned(), at)),
        }
    }
    for call in calls.iter().filter(|call| !call.failed) {
        for step in call.steps.iter().filter(|step| step.kind == StepKind::Files) {
            apply(session, step, call.at, &mut all);
        }
    }
    let after = |at: &Option<Millis>| last_commit.is_some_and(|commit| at.is_some_and(|at| at > commit));
    let after_commit = all.iter().filter(|(_, at)| after(at)).map(|(path, _)| path.clone()).collect();
    let (edited, edited_at) = all.into_iter().unzip();
    EditedFiles { edited, edited_at, after_commit, turns: edited_in.into_iter().collect() }
}

impl EditedFiles {
    /// Each with when it was edited last.
    pub(crate) fn with_times(&self) -> impl Iterator<Item = (&str, Option<Millis>)> {
        let times = self.edited_at.iter().copied().chain(std::iter::repeat(None));
        self.edited.iter().map(String::as_str).zip(times)
    }

    /// Adds what a later part of the session edited; its turns are counted from this one.
    pub(super) fn continue_with(&mut self, later: Self, turn: usize) {
        self.turns.extend(later.turns.iter().map(|(number, at)| (turn + number, *at)));
        self.edited_at.resize(self.edited.len(), None);
        for (path, at) in later.with_times() {
            match self.edited.iter().position(|known| known == path) {
                Some(known) => self.edited_at[known] = at,
                None => {
                    self.edited.push(path.to_owned());
                    self.edited_at.push(at);
                }
            }
        }
        self.after_commit = later.after_commit;
    }
}

/// The paths of edits that succeeded, and when, without scratch.
pub(super) fn edits(session: &Session) -> impl Iterator<Item = (&str, Option<Millis>)> {
    session.entries.iter().filter_map(|entry| {
        let Item::Tool(tool) = &entry.item else { return None };
        let file = tool.file.as_ref().filter(|file| file.how != Touch::Read && !is_no_work(&file.path, session))?;
        entry.outcome.as_ref().is_none_or(|outcome| outcome.ok).then_some((file.path.as_str(), entry.at))
    })
}

fn is_no_work(path: &str, session: &Session) -> bool {
    let in_project = session.cwd.as_deref().is_some_and(|cwd| cwd.len() > 1 && path.starts_with(cwd));
    NO_WORK.iter().any(|part| path.contains(part)) || !in_project && SCRATCH.iter().any(|start| path.starts_with(start))
}

/// Takes out what a command removed before any later edit, and renames what it moved.
fn apply(session: &Session, step: &ShellStep, at: Option<Millis>, all: &mut Vec<(String, Option<Millis>)>) {
    let words = words(step);
    let words = if words.first().is_some_and(|word| word == "git") { &words[1..] } else { &words[..] };
    let Some((program, rest)) = words.split_first() else { return };
    // What git alone forgets stays.
    if rest.iter().any(|word| word == "--cached") {
        return;
    }
    let named: Vec<Name> =
        rest.iter().filter(|word| !word.starts_with('-')).map(|word| Name::of(session, &step.folder, word)).collect();
    let is_earlier = |edited: &Option<Millis>| *edited <= at;
    if program != "mv" {
        let gone: Vec<String> =
            named.iter().flat_map(|name| name.all_in(session, all, is_earlier)).map(|found| found.path).collect();
        all.retain(|(path, edited)| !(is_earlier(edited) && gone.contains(path)));
        return;
    }
    let [from @ .., to] = &named[..] else { return };
    for name in from {
        for Found { path, behind, is_at } in name.all_in(session, all, is_earlier) {
            let into = from.len() > 1 || to.is_folder;
            let last = name.path.rsplit('/').next().unwrap_or_default();
            // What was found by its end alone moved beside where it was.
            let full = resolved(root(session), &path);
            let before = full.strip_suffix(&behind).and_then(|full| full.strip_suffix(&name.typed)).unwrap_or_default();
            let to = if is_at || to.is_certain { to.path.clone() } else { format!("{before}{}", to.typed) };
            let moved = if into { format!("{to}/{last}{behind}") } else { format!("{to}{behind}") };
            let moved = session.relative(&moved).to_owned();
            all.iter_mut().filter(|(known, _)| *known == path).for_each(|(known, _)| known.clone_from(&moved));
        }
    }
    let mut known = BTreeSet::new();
    all.retain(|(path, _)| known.insert(path.clone()));
}

fn root(session: &Session) -> &str {
    session.cwd.as_deref().unwrap_or_default()
}

/// A file or folder as a command names it.
struct Name {
    /// In full, as far as it can be told.
    path: String,
    /// Without `./` and a slash at the end.
    typed: String,
    /// The command said where it was.
    is_certain: bool,
    is_folder: bool,
}

impl Name {
    fn of(session: &Session, folder: &str, word: &str) -> Self {
        let typed = word.trim_start_matches("./").trim_end_matches('/').to_owned();
        let path = resolved(&resolved(root(session), folder), word);
        let is_certain = word.starts_with('/') || !folder.is_empty();
        Self { path, typed, is_certain, is_folder: word.ends_with('/') || typed_is_folder(word) }
    }

    /// The files that are meant. The shell may be elsewhere than the session began: if nothing lies at the name, what ends in it is
    /// meant.
    fn all_in(
        &self,
        session: &Session,
        all: &[(String, Option<Millis>)],
        is_earlier: impl Fn(&Option<Millis>) -> bool,
    ) -> Vec<Found> {
        if matches!(self.typed.as_str(), "" | "." | "..") {
            return Vec::new();
        }
        let known = || all.iter().filter(|(_, edited)| is_earlier(edited)).map(|(path, _)| path);
        let is_end = |behind: &str| behind.is_empty() || behind.starts_with('/');
        // Paths are known relative to the session's folder or its project's.
        let name = session.relative(&self.path);
        let at = |path: &String| path.strip_prefix(name).filter(|behind| is_end(behind)).map(str::to_owned);
        let exact: Vec<Found> =
            known().filter_map(|path| Some(Found { path: path.clone(), behind: at(path)?, is_at: true })).collect();
        if !exact.is_empty() || self.is_certain {
            return exact;
        }
        let name = format!("/{}", self.typed.trim_start_matches("~/"));
        let ends = |path: &String| {
            let full = resolved(root(session), path);
            full.rfind(&name).map(|at| full[at + name.len()..].to_owned()).filter(|behind| is_end(behind))
        };
        known().filter_map(|path| Some(Found { path: path.clone(), behind: ends(path)?, is_at: false })).collect()
    }
}

/// A known file that a command names.
struct Found {
    path: String,
    /// What follows the name in its path.
    behind: String,
    is_at: bool,
}

/// `.` and `..` are folders.
fn typed_is_folder(word: &str) -> bool {
    matches!(word.rsplit('/').next(), Some("." | ".."))
}
