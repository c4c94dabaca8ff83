//! The two halves of a title: what was asked, and what came of it.

use serde::{Deserialize, Serialize};

use super::commits::Commit;
use super::files::EditedFiles;
use super::own_words::first_telling_words;
use super::pull_requests::PullRequest;
use super::turns::{Turn, Word, WordKind};
use crate::analyze::prose::sentences_of_line;
use text::clean::{one_line, shorten};
use transcripts::session::{Item, Session, TitleBy};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TitleParts {
    pub asked: String,
    /// `PR: …`, `commit: …`, `edits: …`; empty if nothing is left.
    pub came: String,
}

impl TitleParts {
    /// Both halves in one line; `None` if there is neither.
    pub(crate) fn text(&self) -> Option<String> {
        let halves = [one_line(&self.asked), one_line(&self.came)];
        let told: Vec<&str> = halves.iter().map(String::as_str).filter(|half| !half.is_empty()).collect();
        (!told.is_empty()).then(|| told.join(" · "))
    }

    /// What was asked, and that something was to be undone later; empty if nothing was asked.
    pub(crate) fn asked_and_undone(&self) -> String {
        let undone = self.came.find(ALSO_ASKED).map(|at| &self.came[at..]).filter(|_| !self.asked.is_empty());
        [Some(self.asked.as_str()), undone].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

const MAX_ASKED_CHARS: usize = 80;
const MAX_CAME_CHARS: usize = 70;
/// Both halves together, where what came of it leaves room for what was asked: of a prompt that begins politely 80 characters say little.
const MAX_CHARS: usize = 150;
const MAX_FILES: usize = 3;
/// A prompt that says no more than that something is to be undone is not longer.
const MAX_UNDO_CHARS: usize = 60;

pub(super) fn of(session: &Session, turns: &[Turn], commits: &[Commit], prs: &[PullRequest], files: &EditedFiles) -> TitleParts {
    let came = [came(commits, prs, files), taken_back(turns).unwrap_or_default()];
    let came = came.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" · ");
    let most = MAX_ASKED_CHARS.max(MAX_CHARS.saturating_sub(came.chars().count()));
    TitleParts { asked: fitted(&asked(session, turns, main_commit(commits)), most), came }
}

/// A text that fits into so many characters: of one that is too long its first sentences, where these fill half of the room, and else its
/// beginning.
fn fitted(text: &str, most: usize) -> String {
    let line = one_line(text);
    if line.chars().count() <= most {
        return line;
    }
    let mut whole = String::new();
    for sentence in sentences_of_line(&line) {
        // What is taken has to be what the text begins with: a sentence comes without its markup.
        let longer = if whole.is_empty() { sentence } else { format!("{whole} {sentence}") };
        if longer.chars().count() > most || !line.starts_with(&longer) {
            break;
        }
        whole = longer;
    }
    if whole.chars().count() * 2 >= most { whole.trim_end_matches('.').to_owned() } else { shorten(&line, most) }
}

/// A title that the user gave; the plan's that was handed over; the client's; what was asked first, or what led to the commit.
fn asked(session: &Session, turns: &[Turn], commit: Option<&Commit>) -> String {
    let given = |by: TitleBy| {
        let mut titles = session.entries.iter().rev().filter_map(move |entry| match &entry.item {
            Item::Title(title) if title.by == by => Some(title.text.clone()),
            _ => None,
        });
        titles.next()
    };
    let words = || turns.iter().flat_map(|turn| &turn.words);
    let plan = || words().find_map(|word| if let WordKind::PlanGiven { plan } = &word.kind { Some(plan.clone()) } else { None });
    given(TitleBy::User)
        .or_else(plan)
        .or_else(|| given(TitleBy::Client))
        .or_else(|| prompts(turns).next().and_then(|(_, text)| first_telling_words(text)))
        .or_else(|| commit.and_then(|commit| led_to(turns, commit)))
        .or_else(|| prompts(turns).find_map(|(_, text)| first_telling_words(text)))
        .or_else(|| given(TitleBy::Summary))
        .unwrap_or_else(|| without_telling(turns))
}

/// Prompts with their turns.
fn prompts(turns: &[Turn]) -> impl DoubleEndedIterator<Item = (&Turn, &str)> {
    let is_prompt = |word: &&Word| matches!(word.kind, WordKind::Prompt | WordKind::Joined);
    turns.iter().flat_map(move |turn| turn.words.iter().filter(is_prompt).map(move |word| (turn, word.text.as_str())))
}

/// The last short prompt after the first turn by which something is to be undone: what the title names may be what was, before or after it was
/// committed.
fn taken_back(turns: &[Turn]) -> Option<String> {
    const UNDO: &[&str] = &["revert", "undo", "rollback", "roll back"];
    const NOT: &[&str] = &["don't", "do not", "never", "how ", "why ", "if ", "should "];
    let first = prompts(turns).next().map(|(turn, _)| turn.number)?;
    let undoes = |text: &str| {
        if text.chars().nth(MAX_UNDO_CHARS).is_some() {
            return false;
        }
        let text = format!(" {} ", text.to_lowercase().replace(|c: char| !c.is_alphanumeric() && c != '\'', " "));
        text.chars().count() <= MAX_UNDO_CHARS
            && UNDO.iter().any(|word| text.contains(&format!(" {word} ")))
            && !NOT.iter().any(|word| text.contains(&format!(" {word}")))
    };
    let text =
        prompts(turns).filter(|(turn, text)| turn.number > first && undoes(text)).map(|(_, text)| one_line(text)).next_back()?;
    Some(format!("{ALSO_ASKED}“{text}”"))
}

/// The last prompt up to a commit that tells something: "commit it" tells nothing.
fn led_to(turns: &[Turn], commit: &Commit) -> Option<String> {
    prompts(turns).rev().filter(|(turn, _)| turn.number <= commit.turn).find_map(|(_, text)| first_telling_words(text))
}

/// The longest prompt, behind the command that the user ran before it.
fn without_telling(turns: &[Turn]) -> String {
    let longest = prompts(turns).map(|(_, text)| one_line(text)).max_by_key(|text| text.chars().count()).unwrap_or_default();
    let ran = turns.iter().flat_map(|turn| &turn.words).find(|word| word.kind == WordKind::Ran).map(|word| one_line(&word.text));
    match ran {
        Some(ran) if !longest.is_empty() => format!("{ran}: {longest}"),
        Some(ran) => ran,
        None => longest,
    }
}

/// The commit of which most was written and that changed most; of equal ones the last. Files count by their doublings: generated ones are
/// many.
fn main_commit(commits: &[Commit]) -> Option<&Commit> {
    let written = |commit: &Commit| commit.subject.chars().count() + commit.body.chars().count();
    let doublings = |commit: &Commit| (commit.files.unwrap_or(1) as usize + 1).ilog2().max(1) as usize;
    commits.iter().max_by_key(|commit| written(commit) * doublings(commit))
}

/// How a title begins to tell that something was to be undone.
const ALSO_ASKED: &str = "also asked: ";

/// How a title begins to name a commit.
pub(super) const COMMIT: &str = "commit: ";

/// A commit's subject, as a title has it.
pub(super) fn told_subject(commit: &Commit) -> String {
    shorten(&commit.subject, MAX_CAME_CHARS)
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
    if let Some(commit) = main_commit(commits) {
        return format!("{COMMIT}{}{}", told_subject(commit), more(commits.len(), "commit"));
    }
    let name = |path: &String| path.rsplit('/').next().unwrap_or(path).to_owned();
    let names: Vec<String> = files.edited.iter().take(MAX_FILES).map(name).collect();
    if names.is_empty() { String::new() } else { shorten(&format!("edits: {}", names.join(", ")), MAX_CAME_CHARS) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_ends_with_a_sentence_where_that_says_enough() {
        let asked = "Orders go missing when customers click through the list. Support says that it began on Monday.";
        assert_eq!(fitted(asked, 70), "Orders go missing when customers click through the list");
        assert_eq!(
            fitted("Look. Orders go missing when customers click through the list of all orders", 40),
            shorten("Look. Orders go missing when customers click through the list of all orders", 40)
        );
        assert_eq!(fitted("Short. And whole.", 40), "Short. And whole.");
        assert_eq!(
            fitted("**Bold** words begin this one here. And a second one that is far too long for it", 50),
            shorten("**Bold** words begin this one here. And a second one that is far too long for it", 50)
        );
    }
}
