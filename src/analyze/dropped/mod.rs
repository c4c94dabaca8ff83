//! What a compaction dropped: what was agreed before it and is not in the summary that took the conversation's place.
//!
//! Texts are compared, nothing is judged: a statement is quoted if its words, names, code and numbers are not in the summary. What the
//! summary may say in other words is left out, and so is whatever tells nothing by itself.

mod constraint;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::Serialize;

use self::constraint::{constrains, is_printed, is_statement};
use crate::analyze::account::{LastRun, SessionAccount, Word, WordKind};
use crate::analyze::prose::sentences_in_any_case;
use crate::analyze::rules::{instructions_in, statements_of};
use crate::analyze::verify::{SessionText, count_missing, counts_something};
use text::clean::{may_be_cut, one_line};
use text::tokenize::{covered_by, distinctive_words};
use transcripts::session::{Answer, Entry, Item, Millis, PlacedEvidence, RecordKey, Session, ToolUse, Touch};

/// A longer prompt describes work or was pasted, in characters: a summary tells it in its own words.
const MAX_PROMPT_CHARS: usize = 1_500;
/// A longer prompt with numbers was pasted as likely as typed, in characters.
const MAX_TYPED_CHARS: usize = 400;
/// Fewer words tell nothing by themselves: all but the commonest, and those that say what it is about.
const MIN_WORDS: usize = 3;
const MIN_TELLING: usize = 2;
/// The share of a statement's words from which a summary may say it in other words: if all its fixed tokens are there, if it has none,
/// and if some of them are not.
const SHARE_FIXED: f64 = 0.34;
const SHARE_PLAIN: f64 = 0.5;
const SHARE_MISSING: f64 = 0.75;
/// An answer is told with its question in so many characters.
const ANSWER_CHARS: usize = 300;

/// What was agreed, most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum QuoteKind {
    /// A constraint, an instruction or a correction in the user's own words.
    Constraint,
    /// A choice or an answer of the user's in a dialog, with what was asked.
    Decision,
    /// The title of a plan that the user approved or handed over.
    Plan,
    /// A statement of the user's with a number in it.
    Number,
    /// A check that succeeded, with its flags.
    Command,
    /// A file that was edited after the last commit that was seen.
    File,
}

/// Something that was said or done before a compaction, and is not in its summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Quote {
    pub(crate) kind: QuoteKind,
    /// The turn's number; 0 for what comes before the first prompt that is known.
    pub(crate) turn: usize,
    pub(crate) at: Option<Millis>,
    pub(crate) text: String,
}

/// A compaction of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compaction {
    /// The record of its summary.
    pub(crate) key: RecordKey,
    pub(crate) at: Option<Millis>,
    /// What its summary leaves out, best first; `None` if the summary was not kept whole.
    pub(crate) lacking: Option<Vec<Quote>>,
}

/// The record of the last summary that took the place of a conversation.
pub(crate) fn last_recap(session: &Session) -> Option<RecordKey> {
    recaps(session).last().map(|(_, entry, _)| entry.key)
}

/// The last compaction, with all that its summary leaves out of what was before it.
pub(crate) fn last_compaction(session: &Session) -> Option<Compaction> {
    let (at, entry, recap) = recaps(session).last()?;
    Some(Compaction { key: entry.key, at: entry.at, lacking: lacking_in(session, at, recap) })
}

/// All compactions in order. What several summaries leave out is told of the first of them.
pub(crate) fn compactions(session: &Session) -> Vec<Compaction> {
    let mut told: BTreeSet<(QuoteKind, String)> = BTreeSet::new();
    let of = |(at, entry, recap): (usize, &Entry, &str)| {
        let mut lacking = lacking_in(session, at, recap);
        lacking.iter_mut().for_each(|all| all.retain(|quote| told.insert((quote.kind, quote.text.clone()))));
        Compaction { key: entry.key, at: entry.at, lacking }
    };
    recaps(session).map(of).collect()
}

fn recaps(session: &Session) -> impl Iterator<Item = (usize, &Entry, &str)> {
    session.entries.iter().enumerate().filter_map(|(at, entry)| match &entry.item {
        Item::Recap(text) if entry.is_main() && !text.is_empty() => Some((at, entry, text.as_str())),
        _ => None,
    })
}

/// What the summary at this place leaves out of what was before it; `None` if it was not kept whole.
fn lacking_in(session: &Session, at: usize, recap: &str) -> Option<Vec<Quote>> {
    if may_be_cut(recap) {
        return None;
    }
    let before = session_before(session, at);
    let account = SessionAccount::of(&before, true);
    let summary = Summary::of(recap);
    let mut all: Vec<Quote> = words_lacking(&account, &summary);
    // What was done before an earlier compaction may be long over.
    let since = recaps(session).map(|(_, entry, _)| entry.at).take_while(|time| *time < session.entries[at].at).last().flatten();
    let mut done: Vec<Quote> = account.runs.iter().flat_map(|run| commands_lacking(run, &summary)).collect();
    done.extend(files_lacking(&before, &account, &summary));
    done.retain(|quote| quote.at > since);
    all.extend(done);
    // Of the same words the last ones count.
    all.sort_by(|a, b| (a.kind, b.at, b.turn).cmp(&(b.kind, a.at, a.turn)));
    let mut seen = BTreeSet::new();
    all.retain(|quote| seen.insert(quote.text.to_lowercase()));
    Some(all)
}

/// The session up to one of its entries.
fn session_before(session: &Session, at: usize) -> Session {
    let until = session.entries[at].at;
    // Subagents stand behind the main conversation, whenever they worked.
    let is_before = |n: usize, agent: bool, time: Option<Millis>| if agent { time.is_some() && time <= until } else { n < at };
    let entries = session.entries.iter().enumerate().filter(|(n, entry)| is_before(*n, !entry.is_main(), entry.at));
    let evidence = |placed: &&PlacedEvidence| match placed.agent {
        Some(_) => is_before(0, true, placed.at),
        None => placed.after <= at,
    };
    Session {
        entries: entries.map(|(_, entry)| entry.clone()).collect(),
        evidence: session.evidence.iter().filter(evidence).cloned().collect(),
        ..session.clone()
    }
}

/// A summary, as statements are looked up in it.
struct Summary {
    text: String,
    searched: SessionText,
    words: BTreeSet<String>,
}

impl Summary {
    fn of(recap: &str) -> Self {
        Self { text: recap.to_owned(), searched: SessionText::of(recap.lines()), words: distinctive_words(recap) }
    }

    /// May it say this, be it in other words?
    fn may_say(&self, statement: &str) -> bool {
        let words = telling_words(statement);
        let share = covered_by(&words, &self.words);
        match count_missing(statement, &self.text, &self.searched) {
            (0, _) => words.is_empty() || share >= SHARE_PLAIN,
            (_, 0) => share >= SHARE_FIXED,
            _ => share >= SHARE_MISSING,
        }
    }

    /// Does it hold an answer of the user's as it was given?
    fn names_answer(&self, word: &Word) -> bool {
        let said = one_line(&word.text).to_lowercase();
        let is_answer = matches!(word.kind, WordKind::Answered { .. }) && distinctive_words(&said).len() > 1;
        is_answer && one_line(&self.text).to_lowercase().contains(&said)
    }

    /// Does it hold all words of a command, in whatever order?
    fn holds_command(&self, command: &str) -> bool {
        let text = self.text.to_lowercase();
        command.split_whitespace().all(|word| text.contains(word.trim_matches(['\'', '"']).to_lowercase().as_str()))
    }
}

/// Does a sentence say something by itself?
fn tells(sentence: &str) -> bool {
    distinctive_words(sentence).len() >= MIN_WORDS && telling_words(sentence).len() >= MIN_TELLING
}

/// The words of a statement that say what it is about.
fn telling_words(statement: &str) -> BTreeSet<String> {
    /// Stemmed words that demand, and say nothing of what.
    const UNTELLING: [&str; 24] = [
        "must", "always", "alway", "never", "want", "need", "mak", "sur", "ensur", "avoid", "without", "instead", "rather",
        "least", "most", "don", "dont", "doesn", "shouldn", "mustn", "ought", "pleas", "prefer", "ok",
    ];
    let mut words = distinctive_words(statement);
    words.retain(|word| !UNTELLING.contains(&word.as_str()));
    words
}

fn words_lacking(account: &SessionAccount, summary: &Summary) -> Vec<Quote> {
    let mut all = Vec::new();
    // What the user said later, the last first.
    let mut later = Vec::new();
    for turn in account.turns.iter().rev() {
        for word in turn.words.iter().rev() {
            let quote = |(kind, text): (QuoteKind, String)| Quote { kind, turn: turn.number, at: word.at.or(turn.at), text };
            let told = told_by(word).into_iter().filter(|(_, text)| !summary.may_say(text) && !summary.names_answer(word));
            // What the user took back later holds no more.
            let holds = |(_, text): &(QuoteKind, String)| {
                let own = statements_of(text);
                !own.iter().any(|said| later.iter().any(|other| said.is_opposite(other)))
            };
            all.extend(told.filter(holds).map(quote));
            if word.text.chars().count() <= MAX_PROMPT_CHARS {
                later.extend(statements_of(&word.text));
            }
        }
    }
    all
}

/// What the user agreed to or asked for with these words.
fn told_by(word: &Word) -> Vec<(QuoteKind, String)> {
    match &word.kind {
        WordKind::Prompt | WordKind::Joined => sentences_told(&word.text),
        WordKind::Answered { asked, .. } => {
            let answer = Answer { said: word.text.clone(), asked: asked.clone() };
            let tells = !one_line(&answer.said).is_empty();
            tells.then(|| (QuoteKind::Decision, answer.told(ANSWER_CHARS))).into_iter().collect()
        }
        // Whoever refuses corrects, in whatever words.
        WordKind::Refused { .. } if word.text.chars().count() <= MAX_PROMPT_CHARS => {
            let corrects = |sentence: &String| is_statement(sentence) && tells(sentence);
            let sentences = sentences_in_any_case(&word.text).into_iter().filter(corrects);
            sentences.map(|sentence| (QuoteKind::Constraint, sentence)).collect()
        }
        WordKind::Approved { plan } | WordKind::PlanGiven { plan } if !plan.is_empty() => {
            vec![(QuoteKind::Plan, one_line(plan))]
        }
        _ => Vec::new(),
    }
}

/// The sentences of the user's that constrain or count something.
fn sentences_told(text: &str) -> Vec<(QuoteKind, String)> {
    if text.chars().count() > MAX_PROMPT_CHARS {
        return Vec::new();
    }
    let standing = instructions_in(text);
    let is_typed = text.chars().count() <= MAX_TYPED_CHARS && !text.lines().any(is_printed);
    let kind = |sentence: &String| {
        if !tells(sentence) {
            return None;
        }
        if standing.contains(sentence) || constrains(sentence) {
            return Some(QuoteKind::Constraint);
        }
        (is_typed && is_statement(sentence) && counts_something(sentence)).then_some(QuoteKind::Number)
    };
    sentences_in_any_case(text).into_iter().filter_map(|sentence| Some((kind(&sentence)?, sentence))).collect()
}

/// The checks of a run that ended well. Whether they would still do so, nobody knows.
fn commands_lacking(run: &LastRun, summary: &Summary) -> Vec<Quote> {
    let quote = |command: &String| Quote { kind: QuoteKind::Command, turn: run.turn, at: run.at, text: command.clone() };
    let tells = |command: &&String| run.ok == Some(true) && !selects_tests(command) && !summary.holds_command(command);
    run.commands.iter().filter(tells).map(quote).collect()
}

/// Does a command run some tests by their names? It was meant for once.
fn selects_tests(command: &str) -> bool {
    const SELECTING: [&str; 8] = ["-run", "--run", "-k", "-t", "--grep", "-g", "--filter", "--testNamePattern"];
    let names_test = |word: &str| word.contains("::") || SELECTING.contains(&word.split('=').next().unwrap_or(word));
    command.split_whitespace().any(names_test)
}

/// The files that were edited after the last commit, or at all if none was seen.
fn files_lacking(session: &Session, account: &SessionAccount, summary: &Summary) -> Vec<Quote> {
    let files = if account.commits.is_empty() { &account.files.edited } else { &account.files.after_commit };
    let text = summary.text.to_lowercase();
    let is_named = |path: &str| text.contains(&path.rsplit('/').next().unwrap_or(path).to_lowercase());
    let quote = |path: &String| {
        let at = last_edit(session, path);
        Quote { kind: QuoteKind::File, turn: account.turn_at(at), at, text: path.clone() }
    };
    files.iter().filter(|path| !is_named(path)).map(quote).collect()
}

fn last_edit(session: &Session, path: &str) -> Option<Millis> {
    let edits =
        |tool: &ToolUse| tool.file.as_ref().is_some_and(|file| file.how != Touch::Read && session.relative(&file.path) == path);
    let of_path = session.entries.iter().filter(|entry| matches!(&entry.item, Item::Tool(tool) if edits(tool)));
    of_path.filter_map(|entry| entry.at).max()
}
