//! The rows behind what a model claimed. Pure.

use super::SessionPageInput;
use super::lines::section;
use crate::analyze::condense::{gist, tool_line};
use crate::analyze::prose::sentences;
use crate::model::digest::Claim;
use text::clean::shorten;
use text::markdown::{code, inline};
use text::tokenize::{covered_by, distinctive_words};
use transcripts::session::{Answer, Entry, Item, RecordKey, Session, title_of_plan};

/// The most characters of a claim, and of what a row says for it.
const MAX_CLAIM_CHARS: usize = 80;
const MAX_ROW_CHARS: usize = 120;
const BETWEEN: &str = "; ";
/// More rows than any claim has: somebody wrote them into the page.
const MAX_ROWS: usize = 24;

/// The rows that support each statement.
pub(super) fn evidence(page: &mut String, one: &SessionPageInput<'_>) {
    let line = |claim: &Claim| {
        let rows = claim.rows.iter().map(|key| row(key, &claim.text, one.session));
        begins(&claim.text) + &rows.collect::<Vec<_>>().join(BETWEEN)
    };
    section(page, "Evidence", one.digest.told().map(|(_, claim)| claim).map(line));
}

/// The rows on a line that [`evidence`] wrote for this claim. What they say must be what the session says: a row's text may look like the
/// name of another row.
pub(super) fn rows_on(line: &str, claim: &str, session: &Session) -> Option<Vec<RecordKey>> {
    let mut rest = line.strip_prefix(&begins(claim))?;
    let mut rows = Vec::new();
    while rows.len() < MAX_ROWS
        && let Some(key) = rest.strip_prefix('`').and_then(|rest| RecordKey::read(rest.split_once('`')?.0))
    {
        rows.push(key);
        match rest.strip_prefix(&row(&key, claim, session)).and_then(|rest| rest.strip_prefix(BETWEEN)) {
            Some(next) => rest = next,
            None => break,
        }
    }
    (!rows.is_empty()).then_some(rows)
}

fn begins(claim: &str) -> String {
    format!("{} ← ", inline(&Answer::shorten_line(claim, MAX_CLAIM_CHARS)))
}

fn row(key: &RecordKey, claim: &str, session: &Session) -> String {
    let entry = session.entries.iter().find(|e| e.key == *key);
    format!("{} {}", code(&key.to_string()), entry.map(|e| support(session, e, claim)).unwrap_or_default())
}

/// What an entry contributes to a claim: of a longer text, the sentence that shares the most words with it.
fn support(session: &Session, entry: &Entry, claim: &str) -> String {
    let most = MAX_ROW_CHARS;
    let aside = if entry.is_main() { "" } else { "subagent: " };
    match &entry.item {
        Item::Reply(text) | Item::Away(text) => inline(&best_sentence(text, claim)),
        Item::Plan(text) if entry.is_refused_plan() => format!("refused plan: {}", inline(&shorten(title_of_plan(text), most))),
        Item::Plan(text) => inline(&best_sentence(text, claim)),
        Item::Prompt(text) => format!("**user** {}", inline(&shorten(text, most))),
        Item::Answer(answer) => format!("**user answered** {}", inline(&answer.told(most))),
        Item::Recap(text) => format!("recap: {}", inline(&gist(text, most))),
        Item::PullRequest(url) => format!("pull request {}", inline(url)),
        Item::Tool(tool) => format!("{aside}{}", code(&tool_line(session, tool, entry.outcome.as_ref(), 0, most))),
        Item::Interrupted => "the user interrupted".into(),
        Item::Todos(todos) => {
            format!("to do: {}", inline(&shorten(&todos.iter().map(|t| t.text.as_str()).collect::<Vec<_>>().join("; "), most)))
        }
        Item::Task(task) => format!("task: {}", inline(&shorten(&task.text, most))),
        Item::Outcome(outcome) => format!("{aside}{}", inline(&shorten(&outcome.brief, most))),
        Item::Title(title) => format!("title: {}", inline(&shorten(&title.text, most))),
        Item::Evidence(_) => String::new(),
    }
}

fn best_sentence(text: &str, claim: &str) -> String {
    let wanted = distinctive_words(claim);
    let mut best = (0.0, String::new());
    for sentence in sentences(text) {
        let share = covered_by(&wanted, &distinctive_words(&sentence));
        if share > best.0 {
            best = (share, sentence);
        }
    }
    shorten(&best.1, MAX_ROW_CHARS)
}
