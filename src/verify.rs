//! A digest is checked against its session: files it names, and the rows behind what it claims.

use std::cell::{LazyCell, OnceCell};
use std::collections::BTreeSet;

use crate::digest::{Claim, Digest};
use crate::session::{Entry, Item, RowKey, Session};
use crate::terms::{covered_by, words};

/// A row supports a claim when it holds at least this share of the claim's telling words.
const SUPPORT: f64 = 0.34;
/// A row that was not named as evidence must hold more of them.
const FOUND_SUPPORT: f64 = 0.6;
const MAX_ROWS: usize = 3;

/// Marks what the session supports. Claims lose the rows that say nothing of them; where none is left, one is looked for.
pub fn verify(digest: &mut Digest, session: &Session) {
    let said = Said::of(session);
    for claim in digest.decisions.iter_mut().chain(&mut digest.blockers).chain(&mut digest.next_steps) {
        support(claim, &said);
    }
    // Most files were touched: what is mentioned beside them is rarely asked for.
    let mentioned = LazyCell::new(|| mentioned_names(session));
    for file in &mut digest.files {
        file.verified = was_touched(session, &file.path) || is_mentioned(&file.path, &mentioned);
    }
}

/// The telling words of each entry, made when they are asked for: most claims name the rows behind them.
struct Said<'s> {
    entries: &'s [Entry],
    words: Vec<OnceCell<BTreeSet<String>>>,
}

impl<'s> Said<'s> {
    fn of(session: &'s Session) -> Self {
        Self { entries: &session.entries, words: vec![OnceCell::new(); session.entries.len()] }
    }

    /// The share of the words that each entry holds.
    fn shares(&self, wanted: &BTreeSet<String>, of: impl Fn(&Entry) -> bool) -> impl Iterator<Item = (f64, RowKey)> {
        let fitting = self.entries.iter().zip(&self.words).filter(move |(entry, _)| of(entry));
        fitting.map(|(entry, said)| (covered_by(wanted, said.get_or_init(|| words(&text_of(entry)))), entry.key))
    }
}

fn support(claim: &mut Claim, said: &Said<'_>) {
    // Who said it stands before the words, not in the row.
    let said_by = ["User: ", "Unanswered: ", "Plan approved: "].into_iter().find_map(|who| claim.text.strip_prefix(who));
    let wanted = words(said_by.unwrap_or(&claim.text));
    let share = |key: &RowKey| said.shares(&wanted, |entry| entry.key == *key).map(|(share, _)| share).fold(0.0, f64::max);
    claim.rows.retain(|key| share(key) >= SUPPORT);
    claim.rows.dedup();
    claim.rows.truncate(MAX_ROWS);
    if claim.rows.is_empty() {
        // Of equals the last: what was said last holds.
        let best = said.shares(&wanted, |_| true).max_by(|a, b| a.0.total_cmp(&b.0));
        claim.rows.extend(best.filter(|(share, _)| *share >= FOUND_SUPPORT).map(|(_, key)| key));
    }
}

/// All that an entry says, as text.
pub fn text_of(entry: &Entry) -> String {
    match &entry.item {
        Item::Answer(answer) => answer.whole(),
        Item::Prompt(t) | Item::Reply(t) | Item::Plan(t) | Item::Recap(t) | Item::Away(t) | Item::PullRequest(t) => t.clone(),
        Item::Tool(tool) => {
            let path = tool.file.as_ref().map_or("", |f| f.path.as_str());
            let brief = entry.outcome.as_ref().map_or("", |o| o.brief.as_str());
            format!("{} {} {path} {brief}", tool.name, tool.line)
        }
        Item::Todos(todos) => todos.iter().map(|t| t.text.as_str()).collect::<Vec<_>>().join("\n"),
        Item::Task(todo) => todo.text.clone(),
        Item::Title(title) => title.text.clone(),
        Item::Outcome(_) | Item::Interrupted => String::new(),
    }
}

/// `src/a.rs` is `/home/me/repo/src/a.rs`, but not `/home/me/repo/lib/src/aa.rs`.
fn was_touched(session: &Session, path: &str) -> bool {
    let path = path.trim_start_matches("./");
    session.entries.iter().any(|e| match &e.item {
        Item::Tool(tool) => tool
            .file
            .as_ref()
            .is_some_and(|f| f.path == path || f.path.strip_suffix(path).is_some_and(|before| before.ends_with('/'))),
        _ => false,
    })
}

/// Everything in the session that looks like a file's name, without what surrounds it.
fn mentioned_names(session: &Session) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in &session.entries {
        for word in text_of(entry).split(|c: char| c.is_whitespace() || "`'\"()[]{}<>,;|=".contains(c)) {
            let word = word.trim_matches(['.', ':', '*', '!', '?']).trim_start_matches("./");
            let word = word.split_once(':').map_or(word, |(path, _)| path);
            if word.contains('.') || word.contains('/') {
                names.insert(word.to_owned());
            }
        }
    }
    names
}

fn is_mentioned(path: &str, names: &BTreeSet<String>) -> bool {
    let path = path.trim_start_matches("./");
    let name = path.rsplit('/').next().unwrap_or(path);
    // A bare name stands for its file; a path must be said in a form that is part of it.
    names.iter().any(|said| {
        said == path
            || said == name
            || said.strip_suffix(path).is_some_and(|b| b.ends_with('/'))
            || path.strip_suffix(said.as_str()).is_some_and(|b| b.ends_with('/'))
    })
}
