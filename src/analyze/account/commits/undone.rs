//! Commits that were undone: by a revert, or with the only branch that had them.

use super::{Commit, GitStep, History, Made, is_same};
use crate::analyze::account::shell::Place;
use transcripts::shell::is_hash;

/// What `git revert` writes into a message, before the hash.
const REVERTS: &str = "This reverts commit ";

/// Does a commit undo this earlier one?
pub(crate) fn undoes(commit: &Commit, earlier: &Commit) -> bool {
    let quoted = |start: &str| commit.subject.strip_prefix(start)?.strip_suffix('"');
    let by_subject = quoted("Revert \"") == Some(earlier.subject.as_str())
        || quoted("Reapply \"").is_some_and(|again| earlier.subject == format!("Revert \"{again}\""));
    let hash = commit.body.split_once(REVERTS).map(|(_, rest)| rest.split(|c: char| !c.is_ascii_hexdigit()).next());
    let by_hash = hash.flatten().is_some_and(|hash| is_same(hash, &earlier.hash));
    commit.elsewhere == earlier.elsewhere && (by_subject || by_hash)
}

/// Does a commit undo another one, whichever that is?
pub(crate) fn is_revert(commit: &Commit) -> bool {
    commit.subject.starts_with("Revert \"") || commit.subject.starts_with("Reapply \"") || commit.body.contains(REVERTS)
}

/// Without commits that a later one undoes, and without that one.
pub(crate) fn standing(all: impl IntoIterator<Item = Commit>) -> Vec<Commit> {
    let mut standing: Vec<Commit> = Vec::new();
    for commit in all {
        match standing.iter().rposition(|earlier| undoes(&commit, earlier)) {
            Some(at) => drop(standing.remove(at)),
            None => standing.push(commit),
        }
    }
    standing
}

impl History {
    /// The commits that `git revert` made and that nothing showed, by what it was to undo.
    pub(super) fn quiet_reverts(&self, step: &GitStep<'_>) -> Vec<Commit> {
        let arguments = &step.words[2..];
        if arguments.iter().any(|word| matches!(word.as_str(), "-n" | "--no-commit" | "--abort" | "--quit" | "--skip")) {
            return Vec::new();
        }
        let here: Vec<&Commit> = self.made.iter().filter(|made| made.place == step.place).map(|made| &made.commit).collect();
        let named = |name: &String| match super::steps_back_from_head(name) {
            Some(back) => here.iter().rev().nth(back),
            None if is_hash(name) => here.iter().find(|commit| is_same(&commit.hash, name)),
            None => None,
        };
        let subject = |undone: &&Commit| format!("Revert \"{}\"", undone.subject);
        arguments.iter().filter_map(named).map(|undone| Commit { subject: subject(undone), ..Commit::default() }).collect()
    }

    /// `git branch`: one that is made has what this one has, one that is renamed keeps its commits, and one that is deleted by force takes
    /// along those that had come nowhere else.
    pub(super) fn branch(&mut self, step: &GitStep<'_>, lines: &[String], succeeded: bool) {
        let (options, names): (Vec<&String>, Vec<&String>) = step.words[2..].iter().partition(|word| word.starts_with('-'));
        let has = |some: &[&str]| options.iter().any(|option| some.contains(&option.as_str()));
        let (deletes, forces) = (has(&["-d", "--delete"]), has(&["-f", "--force"]));
        let current = self.branches.at(&step.place).map(str::to_owned);
        if has(&["-D", "-df", "-fd"]) || deletes && forces {
            let says = |name: &str| lines.iter().any(|line| line.trim().starts_with(&format!("Deleted branch {name} (")));
            for name in names.iter().filter(|name| succeeded || says(name)) {
                self.drop_branch(&step.place, name);
            }
        } else if has(&["-m", "-M", "--move"]) && succeeded {
            match (&names[..], current) {
                ([from, to], _) => self.rename(&step.place, from, to),
                ([to], Some(from)) => self.rename(&step.place, &from, to),
                _ => {}
            }
        } else if succeeded && options.iter().all(|option| matches!(option.as_str(), "-f" | "--force" | "-q" | "--no-track")) {
            match (&names[..], current) {
                ([name], Some(from)) => self.came_into(&step.place, &[&from], name),
                ([name, from], _) => self.came_into(&step.place, &[from], name),
                _ => {}
            }
        }
    }

    fn drop_branch(&mut self, place: &Place, branch: &str) {
        let goes = |made: &Made| made.place == *place && made.branch() == Some(branch);
        let is_kept = |made: &Made| made.commit.pushed || made.may_be_merged || !made.merged_into.is_empty();
        self.made.retain(|made| !goes(made) || is_kept(made));
        self.made.iter_mut().filter(|made| made.place == *place).for_each(|made| made.merged_into.retain(|into| into != branch));
    }

    fn rename(&mut self, place: &Place, from: &str, to: &str) {
        for made in self.made.iter_mut().chain(&mut self.unproven).filter(|made| made.place == *place) {
            let names = made.on.iter_mut().chain(&mut made.merged_into).chain(Some(&mut made.commit.branch));
            names.filter(|name| *name == from).for_each(|name| to.clone_into(name));
        }
        if self.branches.at(place) == Some(from) {
            self.branches.put(place, Some(to.to_owned()));
        }
    }

    /// What these branches have is on this one, too.
    pub(super) fn came_into(&mut self, place: &Place, from: &[&str], into: &str) {
        for made in self.made.iter_mut().filter(|made| made.place == *place && !made.is_on(into)) {
            if from.iter().any(|branch| made.is_on(branch)) {
                made.merged_into.push(into.to_owned());
            }
        }
    }
}

/// The branch that a commit merged, by its subject.
pub(super) fn merged_by(subject: &str) -> Option<&str> {
    subject.strip_prefix("Merge branch '")?.split('\'').next()
}
