//! The two halves of a title: what was asked, and what came of it.

use serde::{Deserialize, Serialize};

use super::commits::Commit;
use super::files::EditedFiles;
use super::pull_requests::PullRequest;
use super::turns::{Turn, WordKind};
use crate::model::session::{Item, Session, TitleBy};
use crate::text::clean::{one_line, shorten};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TitleParts {
    pub asked: String,
    /// `PR: …`, `commit: …`, `edits: …`; empty if nothing is left.
    pub came: String,
}

/// A prompt of fewer characters hardly says what it is about.
const TELLING_CHARS: usize = 20;
const MAX_ASKED_CHARS: usize = 80;
const MAX_CAME_CHARS: usize = 70;
const MAX_FILES: usize = 3;

pub(super) fn of(session: &Session, turns: &[Turn], commits: &[Commit], prs: &[PullRequest], files: &EditedFiles) -> TitleParts {
    TitleParts { asked: shorten(&asked(session, turns), MAX_ASKED_CHARS), came: came(commits, prs, files) }
}

/// A title that the user gave; the plan's that was handed over; the client's; the first prompt that tells something.
fn asked(session: &Session, turns: &[Turn]) -> String {
    let given = |by: TitleBy| {
        let mut titles = session.entries.iter().rev().filter_map(move |entry| match &entry.item {
            Item::Title(title) if title.by == by => Some(title.text.clone()),
            _ => None,
        });
        titles.next()
    };
    let words = || turns.iter().flat_map(|turn| &turn.words);
    let plan = || words().find_map(|word| if let WordKind::PlanGiven { plan } = &word.kind { Some(plan.clone()) } else { None });
    let prompts =
        || words().filter(|word| matches!(word.kind, WordKind::Prompt | WordKind::Joined)).map(|word| one_line(&word.text));
    let telling = || prompts().find(|text| text.chars().count() >= TELLING_CHARS && !is_bare_command(text));
    let longest = || prompts().max_by_key(|text| text.chars().count());
    given(TitleBy::User)
        .or_else(plan)
        .or_else(|| given(TitleBy::Client))
        .or_else(telling)
        .or_else(|| given(TitleBy::Summary))
        .or_else(longest)
        .unwrap_or_default()
}

/// `/pr`, `/review 158`: a command without words of its own.
fn is_bare_command(text: &str) -> bool {
    text.starts_with('/') && text.split(' ').count() < 4
}

fn came(commits: &[Commit], prs: &[PullRequest], files: &EditedFiles) -> String {
    let more = |count: usize, what: &str| match count {
        0 | 1 => String::new(),
        2 => format!(" and 1 {what} more"),
        many => format!(" and {} {what}s more", many - 1),
    };
    if let Some(pr) = prs.iter().rev().find(|pr| pr.made) {
        let made = prs.iter().filter(|pr| pr.made).count();
        let title = if pr.title.is_empty() { format!("#{}", pr.number) } else { pr.title.clone() };
        return format!("PR: {}{}", shorten(&title, MAX_CAME_CHARS), more(made, "PR"));
    }
    if let Some(commit) = commits.last() {
        return format!("commit: {}{}", shorten(&commit.subject, MAX_CAME_CHARS), more(commits.len(), "commit"));
    }
    let name = |path: &String| path.rsplit('/').next().unwrap_or(path).to_owned();
    let names: Vec<String> = files.edited.iter().take(MAX_FILES).map(name).collect();
    if names.is_empty() { String::new() } else { shorten(&format!("edits: {}", names.join(", ")), MAX_CAME_CHARS) }
}
